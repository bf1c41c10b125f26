/** The stored result of an idempotency key: ids, never content. */

import { toHex } from "../transcript/hash.ts";
import { rowDamaged } from "./damage/damage-errors.ts";
import { parseStored } from "./damage/stored-json.ts";
import type { Idempotency, Row } from "./records.ts";
import { idempotencyConflict } from "./store-errors.ts";

export interface StoredResult {
  readonly ids: readonly string[];
}

/**
 * The result of an earlier request under the same key, from its row; undefined if there was none.
 * Throws `idempotency_conflict` for another request.
 */
export function replayedResult(
  row: Row | undefined,
  idempotency: Idempotency,
): StoredResult | undefined {
  if (row === undefined) return undefined;
  if (toHex(row["request_hash"] as Uint8Array) !== idempotency.requestHash) {
    throw idempotencyConflict(idempotency.key);
  }
  return parseStored(String(row["result"]), (cause) =>
    rowDamaged(`the result of idempotency key ${idempotency.key}`, "it is no JSON", cause),
  ) as StoredResult;
}

/** Later than any clock, so that no sweep deletes the key by its age. */
const FOR_GOOD = Number.MAX_SAFE_INTEGER;

/** The time from which the key is kept for `IDEMPOTENCY_KEPT_MS`. */
export function keptFrom({ isLasting = false }: Idempotency, now: number): number {
  return isLasting ? FOR_GOOD : now;
}
