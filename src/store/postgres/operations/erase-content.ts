/** Retention: erases summarised content, and finds the sessions where that is due. */

import { noteChange } from "../../plan/new-changes.ts";
import {
  checkErasedCount,
  countRemoved,
  type ErasedRow,
  type ErasePlan,
  planErase,
} from "../../plan/plan-erase.ts";
import type { EraseRequest, EraseResult, RetentionDue } from "../../requests.ts";
import { BURY_SETS, toEntry } from "../../rows/entry-row.ts";
import { toRetentionDue } from "../../rows/session-row.ts";
import type { StoreReads } from "../../store.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { releaseEntryPayloads } from "./blobs.ts";
import { STORED_ENTRY, UNINDEXED_SESSION } from "./entry-columns.ts";
import { writeFeed } from "./feed.ts";
import { dropOriginals } from "./programs.ts";
import { lockQuery, toState } from "./session-state.ts";
import { getSession } from "./sessions.ts";

const DUE = `SELECT s.id, s.retention, s.retention_applied FROM sessions s
    WHERE s.tenant = $1 AND s.retention <> 'full'
      AND EXISTS (SELECT 1 FROM entries e WHERE e.tenant = s.tenant AND e.session = s.session
        AND e.kind IN ('compaction', 'summary') AND e.kind = 'compaction'
        AND e.sequence > coalesce(s.retention_applied, 0))`;

const SQL = statements("erase_content", {
  find: `SELECT ${STORED_ENTRY}, e.nonce FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND ${UNINDEXED_SESSION} = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND e.id = ANY ($3::text[])`,
  newestCompaction: `SELECT max(e.sequence) AS sequence FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND e.session = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND e.kind IN ('compaction', 'summary')
      AND e.kind = 'compaction'`,
  erase: `UPDATE entries e SET content = NULL, content_bytes = 0, nonce = NULL,
      content_hash = erased.hash
    FROM unnest($3::bigint[], $4::bytea[]) AS erased (sequence, hash)
    WHERE e.tenant = $1 AND e.session = $2 AND e.sequence = erased.sequence`,
  dropModels: `DELETE FROM session_models m WHERE m.tenant = $1 AND m.session = $2
      AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.tenant = $1 AND e.session = $2
        AND e.model = m.model AND e.kind = 'message')`,
  bury: `UPDATE entries SET ${BURY_SETS}
    WHERE tenant = $1 AND session = $2 AND sequence = ANY ($3::bigint[])`,
  deleteFacts: `DELETE FROM facts f USING sessions s
    WHERE f.tenant = $1 AND f.source_entry_id = ANY ($2::text[])
      AND s.tenant = $1 AND s.session = f.session
    RETURNING f.id, s.id AS session_id`,
  shrink: `UPDATE session_state SET content_bytes = content_bytes - $3,
      last_write_at = greatest(last_write_at, $4) WHERE tenant = $1 AND session = $2`,
  setMetadata: `UPDATE sessions SET metadata = $3 WHERE tenant = $1 AND session = $2`,
  setApplied: `UPDATE sessions SET retention_applied = $3 WHERE tenant = $1 AND session = $2`,
  due: `${DUE} AND s.id > $2 ORDER BY s.id LIMIT $3`,
  dueSession: `${DUE} AND s.id = $2`,
});

export async function eraseContent(tx: Transaction, request: EraseRequest): Promise<EraseResult> {
  checkErasedCount(request);
  const { sessionId, entryIds, appliedThrough } = request;
  const [locked, rows = [], newest] = await tx.together([
    lockQuery(tx, sessionId),
    query(SQL.find, tx.tenant, sessionId, entryIds),
    query(SQL.newestCompaction, tx.tenant, sessionId),
  ]);
  const { number } = toState(locked, sessionId);
  const found = new Map(rows.map((row) => [String(row["id"]), toEntry(row, sessionId)]));
  const entries = entryIds.flatMap((id) => found.get(id) ?? []);
  const plan = planErase(request, entries, Number(newest?.[0]?.["sequence"] ?? 0));
  if (appliedThrough !== undefined) tx.defer(SQL.setApplied, tx.tenant, number, appliedThrough);
  if (plan === undefined) return { erased: 0 };
  dropOriginals(tx, number);
  if (request.isRemoval === true) {
    const { metadata } = await getSession(tx, sessionId);
    const counted = JSON.stringify(countRemoved(metadata, plan.rows.length));
    tx.defer(SQL.setMetadata, tx.tenant, number, Buffer.from(counted));
  }
  await executePlan(tx, number, plan, request.now);
  return { erased: plan.rows.length };
}

export async function listRetentionDue(
  tx: Transaction,
  which: Parameters<StoreReads["listRetentionDue"]>[1],
): Promise<RetentionDue[]> {
  const rows =
    "sessionId" in which
      ? await tx.all(SQL.dueSession, tx.tenant, which.sessionId)
      : await tx.all(SQL.due, tx.tenant, which.after ?? "", which.limit);
  return rows.map(toRetentionDue);
}

export function eraseRows(tx: Transaction, session: number, rows: readonly ErasedRow[]): void {
  const [buried, erased] = [
    rows.filter(({ contentHash }) => contentHash === null),
    rows.filter(({ contentHash }) => contentHash !== null),
  ];
  const sequences = (some: readonly ErasedRow[]) => some.map(({ sequence }) => sequence);
  if (buried.length > 0) {
    tx.defer(SQL.bury, tx.tenant, session, sequences(buried));
    tx.defer(SQL.dropModels, tx.tenant, session);
  }
  if (erased.length === 0) return;
  const hashes = erased.map(({ contentHash }) => contentHash);
  tx.defer(SQL.erase, tx.tenant, session, sequences(erased), hashes);
}

async function executePlan(
  tx: Transaction,
  session: number,
  { rows, ids, contentBytes, change }: ErasePlan,
  now: number,
): Promise<void> {
  eraseRows(tx, session, rows);
  await releaseEntryPayloads(
    tx,
    session,
    rows.map(({ sequence }) => sequence),
  );
  const facts = await tx.all(SQL.deleteFacts, tx.tenant, ids);
  const gone = facts
    .map((row) => ({ fact: String(row["id"]), sessionId: String(row["session_id"]) }))
    .sort((a, b) => (a.fact < b.fact ? -1 : 1))
    .map(({ fact, sessionId }) => noteChange("fact_deleted", sessionId, now, { fact }));
  tx.defer(SQL.shrink, tx.tenant, session, contentBytes, now);
  writeFeed(tx, [change, ...gone], { contentBytes: -contentBytes });
}
