/**
 * Ids of imported entries, derived from the source's ids.
 *
 * The same entry of the same session always gets the same id, so that reading a file again finds
 * stored entries without a list, and references inside the file map to ours without a look-up. It
 * has the form of a ULID, because forks rename ids of that form. The prefix is the same for all
 * entries of a session, so they are adjacent in the database's index.
 */

import { hash } from "node:crypto";
import type { ImportedEntry } from "../../ingest/source.ts";

/** An entry that is to be stored, and its id here. */
export interface PendingEntry {
  readonly entry: ImportedEntry;
  readonly id: string;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SESSION_LENGTH = 10;
const ENTRY_LENGTH = 16;

/** The size of the cache: more than a batch. */
const RECENT = 2_048;

export class ImportedIds {
  readonly #key: string;
  readonly #prefix: string;
  /** The JSON prefix of a key and a source's id. */
  readonly #json: string;
  /** The last id that was made, in ASCII. */
  readonly #id = Buffer.alloc(SESSION_LENGTH + ENTRY_LENGTH);
  /** An id is usually requested twice: the next entry names it as its parent. */
  readonly #recent = new Map<string, string>();

  /** `key` is the session's origin key. */
  constructor(key: string) {
    this.#key = key;
    this.#json = JSON.stringify(`${key}\0`).slice(0, -1);
    // A ULID's first character is at most 7.
    this.#id.write("0");
    encode(JSON.stringify(key), this.#id, 1, SESSION_LENGTH);
    this.#prefix = this.#id.toString("latin1", 0, SESSION_LENGTH);
  }

  of(sourceId: string): string {
    const known = this.#recent.get(sourceId);
    if (known !== undefined) return known;
    // Most ids need no escape.
    const json = PLAIN.test(sourceId)
      ? `${this.#json}${sourceId}"`
      : JSON.stringify(`${this.#key}\0${sourceId}`);
    encode(json, this.#id, SESSION_LENGTH, this.#id.length);
    const id = this.#id.toString("latin1");
    if (this.#recent.size === RECENT) this.#recent.clear();
    this.#recent.set(sourceId, id);
    return id;
  }

  /** Whether `id` belongs to an entry imported into this session. */
  includes(id: string): boolean {
    return id.length === SESSION_LENGTH + ENTRY_LENGTH && id.startsWith(this.#prefix);
  }
}

const PLAIN = /^[\w#-]*$/;

/** Five bits of the JSON's hash per character. JSON escapes keep lone surrogates distinct. */
function encode(json: string, into: Uint8Array, start: number, end: number): void {
  const bytes = hash("sha256", json, "binary");
  for (let i = start, bit = 0; i < end; i++, bit += 5) {
    const pair = (bytes.charCodeAt(bit >> 3) << 8) | bytes.charCodeAt((bit >> 3) + 1);
    into[i] = ALPHABET.charCodeAt((pair >> (11 - (bit & 7))) & 31);
  }
}
