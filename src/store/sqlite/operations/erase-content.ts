/** Retention: erases summarised content, and finds the sessions where that is due. */

import { noteChange } from "../../plan/new-changes.ts";
import {
  checkErasedCount,
  countRemoved,
  type ErasedRow,
  planErase,
} from "../../plan/plan-erase.ts";
import type { EraseRequest, EraseResult, RetentionDue } from "../../requests.ts";
import { BURY_SETS, toEntry } from "../../rows/entry-row.ts";
import { toRetentionDue } from "../../rows/session-row.ts";
import type { StoreReads } from "../../store.ts";
import { sessionNotFound } from "../../store-errors.ts";
import { eraseFromPacks } from "../packs/clear-packs.ts";
import { unfold } from "../packs/read-pack.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { releaseEntryPayloads } from "./blobs.ts";
import { STORED_ENTRY } from "./entry-columns.ts";
import { findTenant, planFeed, writePlannedFeed } from "./feed.ts";
import { dropOriginals } from "./programs.ts";
import { getSession, sessionNumber } from "./sessions.ts";

const DUE = `SELECT s.id, s.retention, s.retention_applied FROM sessions s
    WHERE s.tenant = ? AND s.retention <> 'full'
      AND EXISTS (SELECT 1 FROM entries e WHERE e.tenant = s.tenant AND e.session = s.session
        AND e.kind IN ('compaction', 'summary') AND e.kind = 'compaction'
        AND e.sequence > coalesce(s.retention_applied, 0))`;

const SQL = statements("erase_content", {
  find: `SELECT ${STORED_ENTRY}, e.nonce FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.id = ?`,
  newestCompaction: `SELECT max(e.sequence) AS sequence FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.kind IN ('compaction', 'summary')
      AND e.kind = 'compaction'`,
  erase: `UPDATE entries SET content = NULL, content_bytes = 0, nonce = NULL, content_hash = ?
    WHERE tenant = ? AND session = ? AND sequence = ?`,
  bury: `UPDATE entries SET ${BURY_SETS}
    WHERE tenant = ? AND session = ? AND sequence = ?`,
  dropModels: `DELETE FROM session_models WHERE tenant = ?1 AND session = ?2
      AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = ?1 AND e.session = ?2
        AND e.model = session_models.model AND e.kind = 'message')`,
  factsOf: `SELECT f.id, s.id AS session_id FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.source_entry_id = ? ORDER BY f.id`,
  deleteFact: `DELETE FROM facts WHERE tenant = ? AND id = ?`,
  shrink: `UPDATE session_state SET content_bytes = content_bytes - ?,
      last_write_at = max(last_write_at, ?) WHERE tenant = ? AND session = ?`,
  setMetadata: `UPDATE sessions SET metadata = ? WHERE tenant = ? AND session = ?`,
  setApplied: `UPDATE sessions SET retention_applied = ? WHERE tenant = ? AND session = ?`,
  due: `${DUE} AND s.id > ? ORDER BY s.id LIMIT ?`,
  dueSession: `${DUE} AND s.id = ?`,
});

export function eraseContent(
  db: SqliteConnection,
  name: string,
  request: EraseRequest,
): EraseResult {
  checkErasedCount(request);
  const tenant = findTenant(db, name);
  const session = sessionNumber(db, tenant, request.sessionId);
  if (tenant === undefined) throw sessionNotFound(request.sessionId);
  const { entryIds, now, appliedThrough } = request;
  const entries = entryIds.flatMap((id) =>
    db
      .all(SQL.find, tenant, session, id)
      .map((row) => toEntry(unfold(db, tenant, session, row), request.sessionId)),
  );
  const newest = db.get(SQL.newestCompaction, tenant, session)?.["sequence"];
  const plan = planErase(request, entries, Number(newest ?? 0));
  if (appliedThrough !== undefined) db.run(SQL.setApplied, appliedThrough, tenant, session);
  if (plan === undefined) return { erased: 0 };
  dropOriginals(db, tenant, session);
  if (request.isRemoval === true) {
    const { metadata } = getSession(db, name, request.sessionId);
    const counted = JSON.stringify(countRemoved(metadata, plan.rows.length));
    db.run(SQL.setMetadata, Buffer.from(counted), tenant, session);
  }

  const facts = plan.ids.flatMap((id) => db.all(SQL.factsOf, tenant, id));
  const changes = facts.map((row) => {
    const [fact, sessionId] = [String(row["id"]), String(row["session_id"])];
    db.run(SQL.deleteFact, tenant, fact);
    return noteChange("fact_deleted", sessionId, now, { fact });
  });
  // Before the entries change: they hold the tenant's counters.
  const feed = planFeed(db, tenant, [plan.change, ...changes]);
  eraseRows(db, tenant, session, plan.rows);
  for (const { sequence } of plan.rows) releaseEntryPayloads(db, tenant, session, sequence);
  db.run(SQL.shrink, plan.contentBytes, now, tenant, session);
  writePlannedFeed(db, tenant, feed, { contentBytes: -plan.contentBytes });
  return { erased: plan.rows.length };
}

export function eraseRows(
  db: SqliteConnection,
  tenant: number,
  session: number,
  rows: readonly ErasedRow[],
): void {
  const sequences = rows.map(({ sequence }) => sequence);
  eraseFromPacks(db, tenant, session, sequences);
  for (const { sequence, contentHash } of rows) {
    if (contentHash === null) db.run(SQL.bury, tenant, session, sequence);
    else db.run(SQL.erase, contentHash, tenant, session, sequence);
  }
  const isBuried = rows.some(({ contentHash }) => contentHash === null);
  if (isBuried) db.run(SQL.dropModels, tenant, session);
}

export function listRetentionDue(
  db: SqliteConnection,
  name: string,
  which: Parameters<StoreReads["listRetentionDue"]>[1],
): RetentionDue[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  const rows =
    "sessionId" in which
      ? db.all(SQL.dueSession, tenant, which.sessionId)
      : db.all(SQL.due, tenant, which.after ?? "", which.limit);
  return rows.map(toRetentionDue);
}
