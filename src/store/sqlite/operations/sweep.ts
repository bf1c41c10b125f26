/** TTL sweep: deletes expired rows on request. */

import { IDEMPOTENCY_KEPT_MS } from "../../../model/limits.ts";
import type { SweepRequest, SweepResult } from "../../requests.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { collectGarbage } from "./blobs.ts";
import { deleteSession } from "./delete-session.ts";
import { findTenant, listTenants } from "./feed.ts";
import { forgetLeases } from "./leases.ts";
import { PROGRAMS } from "./programs.ts";
import { purgeBatch } from "./purge-deleted.ts";
import { abortExpired } from "./streams.ts";

const SQL = statements("sweep", {
  expiredSessions: `SELECT s.id FROM sessions s INDEXED BY sessions_with_ttl
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.ttl_seconds IS NOT NULL
      AND max(t.updated_at, t.last_write_at) + s.ttl_seconds * 1000 <= ?
    ORDER BY s.session LIMIT ?`,
  oldKeys: `DELETE FROM idempotency WHERE tenant = ? AND created_at < ?`,
});

export function sweep(db: SqliteConnection, request: SweepRequest): SweepResult {
  const { now, limit } = request;
  const names = request.tenant === undefined ? listTenants(db) : [request.tenant];
  const deletedSessions: { tenant: string; sessionId: string }[] = [];
  const abortedMessages: { tenant: string; entryId: string }[] = [];
  let forgottenKeys = 0;
  let collectedBlobs = 0;
  let deletedRecords = 0;
  let left = false;
  if (request.tenant === undefined) forgetLeases(db);
  for (const name of names) {
    const tenant = findTenant(db, name);
    if (tenant === undefined) continue;
    // Abort first: expired pending messages must not keep sessions alive.
    const room = limit - abortedMessages.length;
    for (const entryId of abortExpired(db, name, now, room)) {
      abortedMessages.push({ tenant: name, entryId });
    }
    const expired = db.all(SQL.expiredSessions, tenant, now, limit - deletedSessions.length);
    for (const row of expired) {
      const sessionId = String(row["id"]);
      deleteSession(db, name, sessionId, "ttl", now);
      deletedSessions.push({ tenant: name, sessionId });
    }
    // One batch per call, because the sweep is one transaction.
    left ||= purgeBatch(db, name);
    deletedRecords += PROGRAMS.deleteExpiredRecords(db, name, now, limit - deletedRecords);
    forgottenKeys += db.run(SQL.oldKeys, tenant, now - IDEMPOTENCY_KEPT_MS);
    collectedBlobs += collectGarbage(db, tenant, limit);
  }
  const counts = [deletedSessions.length, abortedMessages.length, collectedBlobs, deletedRecords];
  const more = left || counts.some((count) => count >= limit);
  return { deletedSessions, abortedMessages, forgottenKeys, collectedBlobs, deletedRecords, more };
}
