/**
 * Plans the erasure of content, for both backends.
 *
 * `audit-only` removes the content but keeps its hash, so that the entry's own hash can still be
 * verified. `ephemeral` keeps only what the tree needs, so the entry's hash cannot be verified: the
 * feed then has a digest of the rest and the sum of the removed tokens.
 */

import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { totalTokens } from "../../model/prices.ts";
import { REMOVED_KEY } from "../../model/session.ts";
import {
  contentHash,
  fromHex,
  sha256,
  toHex,
  tombstoneHash,
  ZERO_HASH,
} from "../../transcript/hash.ts";
import type { EntryRecord } from "../records.ts";
import type { EraseRequest } from "../requests.ts";
import { contentErased } from "./new-changes.ts";
import type { AppendPlan, NewChange } from "./plan-append.ts";

/** Bounds the transaction, which blocks other writers. */
export const MAX_ERASED_ENTRIES = 500;

export interface ErasedRow {
  readonly sequence: number;
  /** Null where a tombstone is left. */
  readonly contentHash: Uint8Array | null;
}

export interface ErasePlan {
  readonly rows: readonly ErasedRow[];
  readonly ids: readonly string[];
  readonly contentBytes: number;
  readonly change: NewChange;
}

/** `entries` are the stored entries that the request names. Undefined if none is left to erase. */
export function planErase(
  request: EraseRequest,
  entries: readonly EntryRecord[],
  newestCompaction: number,
): ErasePlan | undefined {
  const { mode, isRemoval = false } = request;
  const unique = new Map(entries.map((entry) => [entry.id, entry]));
  const changed = [...unique.values()].filter(
    (entry) =>
      (isRemoval || !entry.pinned) &&
      entry.sequence !== newestCompaction &&
      !isErased(entry, mode === "ephemeral"),
  );
  if (changed.length === 0) return undefined;
  const ids = changed.map(({ id }) => id);
  const tombstones =
    mode === "audit-only" ? undefined : { tokens: tokensOf(changed), digest: digestOf(changed) };
  return {
    rows: changed.map((entry) => ({
      sequence: entry.sequence,
      contentHash: mode === "audit-only" ? hashOfContent(entry) : null,
    })),
    ids,
    contentBytes: changed.reduce((sum, { contentBytes }) => sum + contentBytes, 0),
    change: contentErased(request, ids, tombstones),
  };
}

/**
 * Copies of erased entries in a fork: they were planned with empty content, and are recognised by
 * their size. Existing content has at least two bytes.
 */
export function erasedCopies({ rows }: AppendPlan): ErasedRow[] {
  return rows
    .filter(({ entry }) => entry.contentBytes === 0)
    .map(({ entry, place, nonce }) => ({
      sequence: place.sequence,
      contentHash: contentHash(nonce, entry.content),
    }));
}

/** SHA-256 over the hashes of tombstones, in hex. */
export function digestOf(entries: readonly EntryRecord[]): string {
  const hashes = entries.map((entry) =>
    tombstoneHash(entry.hash === null ? ZERO_HASH : fromHex(entry.hash), entry, entry),
  );
  return toHex(sha256(Buffer.concat(hashes)));
}

export function checkErasedCount({ entryIds }: EraseRequest): void {
  if (entryIds.length <= MAX_ERASED_ENTRIES) return;
  throw new BackscrollError(
    "too_large",
    `entryIds is ${entryIds.length}; at most ${MAX_ERASED_ENTRIES} is allowed; erase them in parts`,
    { details: { field: "entryIds", limit: MAX_ERASED_ENTRIES, actual: entryIds.length } },
  );
}

/** An `audit-only` erasure can still become a tombstone. */
function isErased({ content, contentHash: kept }: EntryRecord, wholly: boolean): boolean {
  return content === null && (!wholly || kept === null);
}

function hashOfContent({ content, nonce }: EntryRecord): Uint8Array {
  // An entry without a nonce, from another version, cannot be verified.
  return content === null || nonce === null ? ZERO_HASH : contentHash(nonce, content);
}

function tokensOf(entries: readonly EntryRecord[]): number {
  return entries.reduce((sum, { usage }) => sum + (usage === null ? 0 : totalTokens(usage)), 0);
}

/** The session's metadata after `count` more permanent removals. */
export function countRemoved(metadata: JsonObject, count: number): JsonObject {
  const before = metadata[REMOVED_KEY];
  const known = typeof before === "number" && Number.isSafeInteger(before) ? before : 0;
  return { ...metadata, [REMOVED_KEY]: known + count };
}
