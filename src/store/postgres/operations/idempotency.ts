/** Idempotency keys: each stores the request's hash and the created ids, for a replay. */

import { fromHex } from "../../../transcript/hash.ts";
import type { Idempotency, Row } from "../../records.ts";
import { IS_THERE } from "../../rows/deleted-session.ts";
import { keptFrom, replayedResult, type StoredResult } from "../../stored-result.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("idempotency", {
  find: `SELECT i.request_hash, i.result FROM idempotency i
    WHERE i.tenant = $1 AND i.session = 0 AND i.key = $2`,
  findInSession: `SELECT i.request_hash, i.result FROM sessions s
    JOIN idempotency i ON i.tenant = s.tenant AND i.session = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND ${IS_THERE} AND i.key = $3`,
  insert: `INSERT INTO idempotency (tenant, session, key, request_hash, result, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)`,
});

/** Queries an earlier request that created a session: these are stored under session 0. */
export function keyQuery(tx: Transaction, idempotency: Idempotency | undefined): Query | undefined {
  return idempotency === undefined ? undefined : query(SQL.find, tx.tenant, idempotency.key);
}

/** Queries an earlier request to a session. */
export function sessionKeyQuery(
  tx: Transaction,
  sessionId: string,
  idempotency: Idempotency | undefined,
): Query | undefined {
  if (idempotency === undefined) return undefined;
  return query(SQL.findInSession, tx.tenant, sessionId, idempotency.key);
}

/** The answer to either query: the earlier result, or undefined. */
export function replayed(
  rows: readonly Row[] | undefined,
  idempotency: Idempotency | undefined,
): StoredResult | undefined {
  return idempotency === undefined ? undefined : replayedResult(rows?.[0], idempotency);
}

export function storeResult(
  tx: Transaction,
  session: number,
  idempotency: Idempotency | undefined,
  result: StoredResult,
  now: number,
): void {
  if (idempotency === undefined) return;
  const { key, requestHash } = idempotency;
  const hash = fromHex(requestHash);
  const at = keptFrom(idempotency, now);
  tx.defer(SQL.insert, tx.tenant, session, key, hash, JSON.stringify(result), at);
}
