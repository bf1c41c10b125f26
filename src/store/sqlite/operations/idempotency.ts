/** Idempotency keys: each stores the request's hash and the created ids, for a replay. */

import { fromHex } from "../../../transcript/hash.ts";
import type { Idempotency } from "../../records.ts";
import { keptFrom, replayedResult, type StoredResult } from "../../stored-result.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("idempotency", {
  find: `SELECT request_hash, result FROM idempotency WHERE tenant = ? AND session = ? AND key = ?`,
  insert: `INSERT INTO idempotency (tenant, session, key, request_hash, result, created_at)
    VALUES (?, ?, ?, ?, ?, ?)`,
});

/**
 * The result of an earlier request under the same key; undefined if there was none. Requests that
 * create a session are kept under session 0.
 */
export function replayed(
  db: SqliteConnection,
  tenant: number,
  session: number,
  idempotency: Idempotency | undefined,
): StoredResult | undefined {
  if (idempotency === undefined) return undefined;
  return replayedResult(db.get(SQL.find, tenant, session, idempotency.key), idempotency);
}

export function storeResult(
  db: SqliteConnection,
  tenant: number,
  session: number,
  idempotency: Idempotency | undefined,
  result: StoredResult,
  now: number,
): void {
  if (idempotency === undefined) return;
  const hash = fromHex(idempotency.requestHash);
  const at = keptFrom(idempotency, now);
  db.run(SQL.insert, tenant, session, idempotency.key, hash, JSON.stringify(result), at);
}
