/**
 * Hash chain: verifies each entry on read. Its hash covers its parent's.
 *
 * Erased entries are verified by the kept content hash; tombstones only by `verify`, from the feed.
 */

import type { BackscrollError } from "../../model/errors.ts";
import { contentDigest, entryHex, toHex } from "../../transcript/hash.ts";
import type { EntryRecord, Row } from "../records.ts";
import { hashedColumns } from "../rows/entry-row.ts";
import { entryDamaged, isDamage } from "./damage-errors.ts";

/** The expected hash of an entry, in hex. Undefined for a tombstone. */
export function expectedHash(
  entry: EntryRecord,
  nonceHex: string | null,
  parent: Uint8Array | string,
): string | undefined {
  const content = digestOfContent(entry, nonceHex);
  if (content === undefined) return undefined;
  return entryHex(parent, content, entry, hashedColumns(entry, entry.sessionId));
}

/** Whether the entry's hash can no longer be computed. */
export function isTombstone({ content, contentHash }: EntryRecord): boolean {
  return content === null && contentHash === null;
}

/** As latin1 text: a character per byte. */
function digestOfContent(entry: EntryRecord, nonceHex: string | null): string | undefined {
  const { content, contentHash } = entry;
  if (content !== null) return contentDigest(nonceHex ?? "", content) ?? "";
  // Erasure removes the nonce with the content: a nonce without content means a loss.
  if (contentHash === null) return nonceHex === null ? undefined : "";
  return contentHash instanceof Uint8Array ? Buffer.from(contentHash).toString("binary") : "";
}

/**
 * Throws `store_corrupt` for the first entry whose hash does not match. `rows` are the rows of
 * `entries`, with `nonce_hex`; `parentHash` gives the hash of an entry's parent in hex, and for a
 * root the session's base hash.
 */
export function checkEntries(
  rows: readonly Row[],
  entries: readonly EntryRecord[],
  parentHash: (entry: EntryRecord, row: Row) => string | undefined,
): void {
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as EntryRecord;
    const row = rows[i] as Row;
    const parent = parentHash(entry, row);
    if (parent === undefined) {
      throw entryDamaged(entry.id, entry.sessionId, "its parent is missing");
    }
    // SQLite's hex of null is an empty text.
    const nonce = String(row["nonce_hex"] ?? "");
    const hash = expectedHash(entry, nonce === "" ? null : nonce, parent);
    if (hash !== undefined && hash !== entry.hash) {
      throw entryDamaged(entry.id, entry.sessionId, "it does not match its stored hash");
    }
    if (entry.status !== "committed" && entry.status !== "aborted") {
      throw entryDamaged(entry.id, entry.sessionId, "its status is unknown");
    }
  }
}

/** Parents' hashes: from the page, or else from `find`, a look-up in the database. */
export function parentsIn(
  entries: readonly EntryRecord[],
  rootHash: Uint8Array,
  find: (id: string) => string | undefined,
): (entry: EntryRecord) => string | undefined {
  const hashes = new Map<string, string | null>();
  for (const { id, hash } of entries) hashes.set(id, hash);
  const root = toHex(rootHash);
  return ({ parentId }) => (parentId === null ? root : (hashes.get(parentId) ?? find(parentId)));
}

/** Replaces the error of a damaged payload by one that names the entry. */
export function namingHolder(error: unknown, entries: readonly EntryRecord[]): unknown {
  if (!isDamage(error)) return error;
  const payload = error.details["payload"];
  if (typeof payload !== "string") return error;
  const holder = entries.find(({ content }) => content?.includes(payload));
  return holder === undefined ? error : holderDamaged(holder, error);
}

function holderDamaged({ id, sessionId }: EntryRecord, error: BackscrollError): BackscrollError {
  return entryDamaged(
    id,
    sessionId,
    "one of its payloads is missing, or does not match its address",
    error,
  );
}
