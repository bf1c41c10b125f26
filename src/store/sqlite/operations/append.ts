/** Appends entries: reads the state, plans, and executes the plan in one transaction. */

import { isOnPath, pathRanges } from "../../../transcript/path.ts";
import type { Point } from "../../../transcript/place.ts";
import { type AppendGuard, checkGuard, guardedIds } from "../../plan/append-guard.ts";
import { entryPinned, leafMoved, planDelta } from "../../plan/new-changes.ts";
import {
  type AppendPlan,
  leafValues,
  namedEntries,
  placedEntry,
  planAppend,
  type SessionState,
} from "../../plan/plan-append.ts";
import { endBefore, planReplacement } from "../../plan/plan-suffix.ts";
import type { AppendRequest, AppendResult, MoveLeafRequest, NewSummary } from "../../records.ts";
import { toPlacedEntry } from "../../rows/entry-row.ts";
import {
  type NumberedSession,
  STATE_CHECKS,
  STATE_COLUMNS,
  toNumberedSession,
  toPathEnd,
  toPoint,
} from "../../rows/state-row.ts";
import {
  checkCompaction,
  checkExpectedLeaf,
  checkNode,
  entryNotFound,
  sessionNotFound,
} from "../../store-errors.ts";
import type { StoredParts } from "../packs/write-pack.ts";
import type { SqliteConnection, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { storePayloads } from "./blobs.ts";
import { readChains } from "./chains.ts";
import { PARENT_ID } from "./entry-columns.ts";
import { type FeedPlan, findTenant, planFeed, writeFeed, writePlannedFeed } from "./feed.ts";
import { replayed, storeResult } from "./idempotency.ts";
import { insertEntries, packRows } from "./insert-entries.ts";
import { addParticipants } from "./sessions.ts";

const MOVED = `leaf_id = ?, leaf_sequence = ?, leaf_chain = ?, leaf_depth = ?, leaf_ordinal = ?,
  leaf_hash = ?, leaf_at_tip = ?, last_sequence = ?, last_chain = ?,
  message_count = message_count + ?, content_bytes = content_bytes + ?, updated_at = ?,
  last_write_at = max(last_write_at, ?)`;
const USED = `input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
  cache_creation_tokens = cache_creation_tokens + ?, cache_read_tokens = cache_read_tokens + ?`;

const SQL = statements("append", {
  readState: `SELECT ${STATE_COLUMNS}, ${STATE_CHECKS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.id = ?`,
  findPoint: `SELECT e.id, e.sequence, e.chain, e.depth, e.ordinal, e.hash, e.kind, e.status,
      NOT EXISTS (SELECT 1 FROM entries d WHERE d.tenant = e.tenant AND d.session = e.session
        AND d.chain = e.chain AND d.ordinal >= e.ordinal AND d.depth > e.depth) AS at_tip
    FROM entries e WHERE e.tenant = ? AND e.session = ? AND e.id = ?`,
  insertChain: `INSERT INTO chains (tenant, session, chain, parent_chain, fork_depth, fork_ordinal)
    VALUES (?, ?, ?, ?, ?, ?)`,
  supersede: `UPDATE entries SET superseded_by = ? WHERE tenant = ? AND session = ? AND id = ?`,
  moveState: `UPDATE session_state SET ${MOVED} WHERE tenant = ? AND session = ?`,
  moveStateAndInteraction: `UPDATE session_state SET last_interaction_at = ?, ${MOVED}
    WHERE tenant = ? AND session = ?`,
  addUsage: `UPDATE session_state SET ${USED} WHERE tenant = ? AND session = ?`,
  moveLeaf: `UPDATE session_state SET leaf_id = ?, leaf_sequence = ?, leaf_chain = ?, leaf_depth = ?,
      leaf_ordinal = ?, leaf_hash = ?, leaf_at_tip = ?, last_write_at = max(last_write_at, ?)
    WHERE tenant = ? AND session = ?`,
  compactions: `SELECT id, chain, depth, ordinal FROM entries INDEXED BY entries_summaries
    WHERE tenant = ? AND session = ? AND kind IN ('compaction', 'summary') AND kind = 'compaction'
    ORDER BY sequence DESC`,
  setSummary: `UPDATE sessions SET summary = ? WHERE tenant = ? AND session = ?`,
  setSummarized: `UPDATE session_state SET summarized_through = ? WHERE tenant = ? AND session = ?`,
  setPinned: `UPDATE entries SET pinned = ? WHERE tenant = ? AND session = ? AND id = ?`,
  placed: `SELECT e.id, e.sequence, ${PARENT_ID} AS parent_id, e.ordinal, e.hash FROM entries e
    WHERE e.tenant = ? AND e.id = ?`,
  superseded: `SELECT superseded_by FROM entries WHERE tenant = ? AND id = ?`,
  parent: `SELECT ${PARENT_ID} AS parent_id FROM entries e
    WHERE e.tenant = ? AND e.session = ? AND e.id = ?`,
});

export function append(db: SqliteConnection, name: string, request: AppendRequest): AppendResult {
  const tenant = findTenant(db, name);
  if (tenant === undefined) throw sessionNotFound(request.sessionId);
  const session =
    db.cache.session(tenant, request.sessionId) ?? readState(db, tenant, request.sessionId);
  const earlier = replayed(db, tenant, session.number, request.idempotency);
  if (earlier !== undefined) return replayedResult(db, tenant, earlier.ids, session.state);

  checkGuarded(db, tenant, request.sessionId, request.guard);
  const plan = planOf(db, tenant, session, request);
  if (request.summary !== undefined) {
    keepSummary(db, tenant, session, request.summary);
  }
  const feed = planFeed(db, tenant, plan.changes);
  const parts = request.isHistory
    ? packRows(db, tenant, session.number, request, plan.rows)
    : undefined;
  executePlan(db, tenant, session.number, plan, feed, request.now, parts);
  const ids = plan.rows.map((row) => row.entry.id);
  storeResult(db, tenant, session.number, request.idempotency, { ids }, request.now);
  // Last, in the same order as on PostgreSQL, where all writers contend for the tenant's row.
  writePlannedFeed(db, tenant, feed, planDelta(plan));
  const { leaf, lastSequence, lastChain, updatedAt, lastInteractionAt } = plan;
  db.cache.keepSession(tenant, {
    number: session.number,
    state: { ...session.state, leaf, lastSequence, lastChain, updatedAt, lastInteractionAt },
  });
  const entries = request.isHistory ? [] : plan.rows.map(placedEntry);
  return { entries, leaf: leaf?.id ?? null, replayed: false };
}

function planOf(
  db: SqliteConnection,
  tenant: number,
  { number, state }: NumberedSession,
  request: AppendRequest,
): AppendPlan {
  const points = findPoints(db, tenant, number, namedEntries(request.entries));
  const { replaced } = request;
  if (replaced === undefined) return planAppend(state, request, points);
  const id = findEndBefore(db, tenant, number, state, replaced);
  const end = id === null ? null : findPoint(db, tenant, number, id);
  if (end === undefined) throw entryNotFound(id ?? "", request.sessionId);
  return planReplacement(state, end, request, points);
}

/** Compare-and-swap: sets the session's summary unless another compaction or branch came between. */
function keepSummary(
  db: SqliteConnection,
  tenant: number,
  { number, state }: NumberedSession,
  summary: NewSummary,
): void {
  const through = findPoint(db, tenant, number, summary.through);
  if (through === undefined) throw entryNotFound(summary.through, state.sessionId);
  if (summary.expectedCompaction !== undefined) {
    const ranges = pathRanges(state.leaf, readChains(db, tenant, number, state.leaf?.chain ?? 0));
    const newest = db
      .all(SQL.compactions, tenant, number)
      .find((row) => isOnPath(toPathEnd(row), ranges));
    const current = newest === undefined ? null : String(newest["id"]);
    checkCompaction(state.sessionId, summary, current, isOnPath(through, ranges));
  }
  db.run(SQL.setSummary, summary.text, tenant, number);
  db.run(SQL.setSummarized, summary.through, tenant, number);
}

/**
 * Writes a plan. Of the feed it writes only the changes that entries store. `parts` are the columns
 * that stay in packed rows; absent: no row is packed.
 */
export function executePlan(
  db: SqliteConnection,
  tenant: number,
  session: number,
  plan: AppendPlan,
  feed: FeedPlan,
  now: number,
  parts?: readonly StoredParts[],
): void {
  for (const chain of plan.chains) {
    const { parentChain, forkDepth, forkOrdinal } = chain;
    db.run(SQL.insertChain, tenant, session, chain.chain, parentChain, forkDepth, forkOrdinal);
  }
  insertEntries(db, tenant, session, plan.rows, feed, parts);
  for (const { entry, place } of plan.rows) {
    if (entry.payloads.length === 0) continue;
    storePayloads(db, tenant, session, place.sequence, entry.payloads);
  }
  for (const { id, by } of plan.superseded) db.run(SQL.supersede, by, tenant, session, id);
  addParticipants(db, tenant, session, plan.actors);
  const { leaf, usage } = plan;
  const moved: SqlValue[] = [
    ...leafValues(leaf),
    plan.lastSequence,
    plan.lastChain,
    plan.messages,
    plan.contentBytes,
    plan.updatedAt,
    now,
    tenant,
    session,
  ];
  // Setting a column rewrites its index entry even if the value is the same.
  if (plan.interacted) db.run(SQL.moveStateAndInteraction, plan.lastInteractionAt, ...moved);
  else db.run(SQL.moveState, ...moved);
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = usage;
  // Most appends have no usage.
  if (inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens === 0) return;
  const used = [inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens];
  db.run(SQL.addUsage, ...used, tenant, session);
}

export function moveLeaf(db: SqliteConnection, name: string, request: MoveLeafRequest): void {
  const tenant = findTenant(db, name);
  const { number, state } = readState(db, tenant, request.sessionId);
  if (tenant === undefined) return;
  checkExpectedLeaf(request.sessionId, state.leaf?.id ?? null, request.expectedLeaf);
  const leaf = request.leaf === null ? null : findPoint(db, tenant, number, request.leaf);
  if (leaf === undefined) throw entryNotFound(request.leaf ?? "", request.sessionId);
  if (leaf !== null) checkNode(leaf, request.sessionId);
  db.run(SQL.moveLeaf, ...leafValues(leaf), request.now, tenant, number);
  writeFeed(db, tenant, [leafMoved(request, state.leaf?.id ?? null)]);
}

export function setPinned(
  db: SqliteConnection,
  name: string,
  sessionId: string,
  entryId: string,
  pinned: boolean,
  now: number,
): void {
  const tenant = findTenant(db, name);
  const { number } = readState(db, tenant, sessionId);
  if (tenant === undefined) return;
  const changed = db.run(SQL.setPinned, pinned ? 1 : 0, tenant, number, entryId);
  if (changed === 0) throw entryNotFound(entryId, sessionId);
  writeFeed(db, tenant, [entryPinned(sessionId, entryId, pinned, now)]);
}

export function readState(
  db: SqliteConnection,
  tenant: number | undefined,
  sessionId: string,
  isRaw = false,
): NumberedSession {
  const row = tenant === undefined ? undefined : db.get(SQL.readState, tenant, sessionId);
  if (row === undefined) throw sessionNotFound(sessionId);
  return toNumberedSession(row, sessionId, isRaw);
}

export function findPoints(
  db: SqliteConnection,
  tenant: number,
  session: number,
  ids: readonly string[],
): Map<string, Point> {
  const points = new Map<string, Point>();
  for (const id of ids) {
    const point = findPoint(db, tenant, session, id);
    if (point !== undefined) points.set(id, point);
  }
  return points;
}

export function findPoint(
  db: SqliteConnection,
  tenant: number,
  session: number,
  id: string,
): Point | undefined {
  const row = db.get(SQL.findPoint, tenant, session, id);
  return row === undefined ? undefined : toPoint(row);
}

/** The result of a replayed request, from its stored ids. */
export function replayedResult(
  db: SqliteConnection,
  tenant: number,
  ids: readonly string[],
  state: SessionState,
): AppendResult {
  const entries = ids.flatMap((id) => {
    const row = db.get(SQL.placed, tenant, id);
    return row === undefined ? [] : toPlacedEntry(row);
  });
  return { entries, leaf: state.leaf?.id ?? null, replayed: true };
}

function checkGuarded(
  db: SqliteConnection,
  tenant: number,
  sessionId: string,
  guard: AppendGuard | undefined,
): void {
  if (guard === undefined) return;
  const found = guardedIds(guard).flatMap((id) => {
    const row = db.get(SQL.superseded, tenant, id);
    return row === undefined ? [] : [{ id, supersededBy: row["superseded_by"] as string | null }];
  });
  checkGuard(sessionId, guard, found);
}

/** See `endBefore`. */
function findEndBefore(
  db: SqliteConnection,
  tenant: number,
  session: number,
  state: SessionState,
  replaced: readonly string[],
): string | null {
  const stored = replaced.flatMap((id) => {
    const row = db.get(SQL.parent, tenant, session, id);
    if (row === undefined) return [];
    return [[id, { id, parentId: row["parent_id"] as string | null }] as const];
  });
  return endBefore(state, replaced, new Map(stored));
}
