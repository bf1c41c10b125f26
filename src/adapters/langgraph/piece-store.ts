/** Pieces: the bytes of channel values, in one immutable record each, with an LRU cache. */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import type { RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { type FlatCopy, fromFlatCopy, isAsCopied, toFlatCopy } from "./flat-copies.ts";
import { type Line, valueKey } from "./keys.ts";
import type { Serializer } from "./sdk-types.ts";

/** A piece as a checkpoint's record names it. */
export type Piece = readonly [
  id: string,
  bytes: number,
  /** The name of the serializer's form. */
  type: string,
  /** When it was written, in seconds. */
  at: number,
  /** The number of members of the list; 1 for a whole value. */
  count: number,
  /** The number of merges that its members went through. */
  tier: number,
];

export interface Held {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** A copy of the members, for comparisons and for callers; undefined if they cannot be copied. */
  readonly copy: FlatCopy | undefined;
}

export interface Draft {
  readonly piece: Piece;
  readonly held: Held;
}

/** Bytes per read. */
const READ_BYTES = 8 * 1024 * 1024;

export class PieceStore {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #serde: Serializer;
  readonly #cacheBytes: number;
  readonly #cache = new Map<string, Held>();
  #cachedBytes = 0;

  constructor(records: RecordsApi, namespace: string, serde: Serializer, cacheBytes: number) {
    this.#records = records;
    this.#namespace = namespace;
    this.#serde = serde;
    this.#cacheBytes = cacheBytes;
  }

  /** A new piece of some members of a list, or of a whole value. */
  async draft(members: readonly unknown[], isWhole: boolean, at: number): Promise<Draft> {
    const [type, bytes] = await this.#serde.dumpsTyped(isWhole ? members[0] : members);
    const held = { type, bytes, copy: toFlatCopy(members) };
    return { piece: [newPieceId(), bytes.length, type, at, members.length, 0], held };
  }

  toWrite(line: Line, { piece: [id], held }: Draft, ttl: number | undefined): RecordOperation {
    const key = valueKey(line, id);
    return { put: { namespace: this.#namespace, key, value: held.bytes, ttl: ttl ?? null } };
  }

  remember(line: Line, { piece: [id], held }: Draft): void {
    this.#hold(valueKey(line, id), held);
  }

  /**
   * Whether a piece holds the `count` members of a list from `start` on, by comparison with the
   * copy or of the serialised bytes.
   */
  async isSame(
    { type, bytes, copy }: Held,
    list: readonly unknown[],
    start: number,
    count: number,
  ): Promise<boolean> {
    if (copy !== undefined) return isAsCopied(list, start, count, copy);
    const [ownType, own] = await this.#serde.dumpsTyped(list.slice(start, start + count));
    return ownType === type && Buffer.compare(own, bytes) === 0;
  }

  /** The members of a piece as new values, which the caller may change. */
  async members({ type, bytes, copy }: Held, isWhole: boolean): Promise<readonly unknown[]> {
    if (copy !== undefined) return fromFlatCopy(copy);
    const value: unknown = await this.#serde.loadsTyped(type, bytes);
    return isWhole ? [value] : (value as readonly unknown[]);
  }

  /** The values of the pieces, by id: cached ones, and the others read and deserialized. */
  async hold(line: Line, pieces: readonly Piece[]): Promise<ReadonlyMap<string, Held>> {
    const found = new Map<string, Held>();
    const missing: Piece[] = [];
    for (const piece of pieces) {
      const held = this.#recall(valueKey(line, piece[0]));
      if (held === undefined) missing.push(piece);
      else found.set(piece[0], held);
    }
    for (const group of grouped(missing)) {
      const keys = group.map(([id]) => valueKey(line, id));
      const records = await this.#records.getMany(this.#namespace, keys);
      for (const [i, piece] of group.entries()) {
        const record = records[i];
        const [id, , type] = piece;
        if (record === undefined) throw pieceMissing(line, keys[i] as string);
        const held = await this.#read(record.value as Uint8Array, type, piece);
        this.#hold(keys[i] as string, held);
        found.set(id, held);
      }
    }
    return found;
  }

  forget(prefix: string): void {
    for (const [key, { bytes }] of this.#cache) {
      if (!key.startsWith(prefix)) continue;
      this.#cache.delete(key);
      this.#cachedBytes -= bytes.length;
    }
  }

  async #read(bytes: Uint8Array, type: string, [, , , , count, tier]: Piece): Promise<Held> {
    const value: unknown = await this.#serde.loadsTyped(type, bytes);
    const members = tier === WHOLE ? [value] : value;
    const isList = Array.isArray(members) && members.length === count;
    return { type, bytes, copy: isList ? toFlatCopy(members) : undefined };
  }

  #recall(key: string): Held | undefined {
    const held = this.#cache.get(key);
    if (held === undefined) return undefined;
    this.#cache.delete(key);
    this.#cache.set(key, held);
    return held;
  }

  #hold(key: string, held: Held): void {
    if (held.bytes.length > this.#cacheBytes || this.#cache.has(key)) return;
    this.#cache.set(key, held);
    this.#cachedBytes += held.bytes.length;
    for (const [oldest, { bytes }] of this.#cache) {
      if (this.#cachedBytes <= this.#cacheBytes) return;
      this.#cache.delete(oldest);
      this.#cachedBytes -= bytes.length;
    }
  }
}

/** The tier of a value that is no list. */
export const WHOLE = -1;

/** 96 random bits: unique within a thread. */
export function newPieceId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("base64url");
}

function grouped(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const group = groups.at(-1);
    bytes += piece[1];
    if (group === undefined || group.length === MAX_PAGE || bytes > READ_BYTES) {
      groups.push([piece]);
      bytes = piece[1];
    } else group.push(piece);
  }
  return groups;
}

function pieceMissing({ thread, ns }: Line, key: string): BackscrollError {
  return new BackscrollError(
    "record_not_found",
    `a value of thread ${thread} is gone: its checkpoint was pruned or has expired meanwhile; read the thread again`,
    { details: { thread, ns, key } },
  );
}
