/**
 * TTL sweep: deletes expired rows on request.
 *
 * Each message and each session has its own transaction: a single one would wait for a session while
 * it holds the tenant's row, against the lock order. A tenant with no due rows takes one round trip
 * and no lock: most of ten thousand have none.
 */

import { IDEMPOTENCY_KEPT_MS } from "../../../model/limits.ts";
import type { SweepRequest, SweepResult } from "../../requests.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { query } from "../postgres-driver.ts";
import { WRITE_START } from "../postgres-schema.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { collectGarbage, garbageQuery } from "./blobs.ts";
import { deleteExpired } from "./delete-session.ts";
import { listTenants } from "./feed.ts";
import { forgetLeases } from "./leases.ts";
import { expiredRecordsQuery, PROGRAMS } from "./programs.ts";
import { deletedQuery, purgeBatch } from "./purge-deleted.ts";
import { abortExpired, expiredQuery, listExpired } from "./streams.ts";

const SQL = statements("sweep", {
  expiredSessions: `SELECT s.id FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.ttl_seconds IS NOT NULL
      AND greatest(t.updated_at, t.last_write_at) + s.ttl_seconds * 1000 <= $2
    ORDER BY s.session LIMIT $3`,
  oldKey: `SELECT key FROM idempotency WHERE tenant = $1 AND created_at < $2 LIMIT 1`,
  oldKeys: `WITH gone AS (DELETE FROM idempotency WHERE tenant = $1 AND created_at < $2
      RETURNING key)
    SELECT count(*) AS count FROM gone`,
});

export async function sweep(db: PostgresDatabase, request: SweepRequest): Promise<SweepResult> {
  const { now, limit } = request;
  const names = request.tenant === undefined ? await db.plain(listTenants) : [request.tenant];
  const deletedSessions: { tenant: string; sessionId: string }[] = [];
  const abortedMessages: { tenant: string; entryId: string }[] = [];
  let forgottenKeys = 0;
  let collectedBlobs = 0;
  let deletedRecords = 0;
  let isUnfinished = false;
  if (request.tenant === undefined) await db.across(WRITE_START, { again: true }, forgetLeases);
  for (const tenant of names) {
    if (!(await db.read(tenant, (tx) => isAnythingDue(tx, now)))) continue;
    // Abort first: expired pending messages must not keep sessions alive.
    const open = limit - abortedMessages.length;
    for (const entryId of await db.read(tenant, (tx) => listExpired(tx, open))) {
      const aborted = await db.write(tenant, (tx) => abortExpired(tx, entryId, now));
      if (aborted) abortedMessages.push({ tenant, entryId });
    }
    const left = limit - deletedSessions.length;
    const due = await db.read(tenant, (tx) => findDue(tx, now, left));
    for (const sessionId of due.expired) {
      const deleted = await db.write(tenant, (tx) => deleteExpired(tx, sessionId, now));
      if (deleted) deletedSessions.push({ tenant, sessionId });
    }
    const hasRows = due.isUnfinished || due.expired.length > 0;
    if (hasRows && (await db.write(tenant, purgeBatch))) isUnfinished = true;
    const room = limit - deletedRecords;
    deletedRecords += await db.write(tenant, (tx) => PROGRAMS.deleteExpiredRecords(tx, now, room));
    forgottenKeys += await db.write(tenant, (tx) => forgetKeys(tx, now));
    collectedBlobs += await db.write(tenant, (tx) => collectGarbage(tx, limit));
  }
  const counts = [deletedSessions.length, abortedMessages.length, collectedBlobs, deletedRecords];
  const more = isUnfinished || counts.some((count) => count >= limit);
  return { deletedSessions, abortedMessages, forgottenKeys, collectedBlobs, deletedRecords, more };
}

async function isAnythingDue(tx: Transaction, now: number): Promise<boolean> {
  const found = await tx.together([
    expiredQuery(tx, 1),
    query(SQL.expiredSessions, tx.tenant, now, 1),
    deletedQuery(tx),
    expiredRecordsQuery(tx, now, 1),
    query(SQL.oldKey, tx.tenant, now - IDEMPOTENCY_KEPT_MS),
    garbageQuery(tx, 1),
  ]);
  return found.some((rows) => rows.length > 0);
}

/** Expired sessions, and whether a purge is unfinished. */
async function findDue(tx: Transaction, now: number, limit: number) {
  const [expired = [], left = []] = await tx.together([
    query(SQL.expiredSessions, tx.tenant, now, limit),
    deletedQuery(tx),
  ]);
  return { expired: expired.map((row) => String(row["id"])), isUnfinished: left.length > 0 };
}

async function forgetKeys(tx: Transaction, now: number): Promise<number> {
  const row = await tx.get(SQL.oldKeys, tx.tenant, now - IDEMPOTENCY_KEPT_MS);
  return Number(row?.["count"]);
}
