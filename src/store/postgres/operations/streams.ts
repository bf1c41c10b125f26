/**
 * Pending messages.
 *
 * A pending message has an id, a lease and chunks, but no place in the tree: the commit places it
 * on the current leaf, so that two pending messages cannot fork a session by accident. Locks are taken
 * in one order, the session's before the message's, and leases use the database's clock.
 */

import type { Point } from "../../../transcript/place.ts";
import {
  messageChunk,
  messageOpened,
  messageTakenOver,
  planDelta,
} from "../../plan/new-changes.ts";
import { planAppend } from "../../plan/plan-append.ts";
import {
  abortedEntry,
  checkPendingBytes,
  committedEntry,
  toPending,
} from "../../plan/plan-stream.ts";
import type { AppendResult, NewEntry, Row } from "../../records.ts";
import type {
  AbortStreamRequest,
  CommitStreamRequest,
  OpenStreamRequest,
  PendingRecord,
  WriteStreamRequest,
} from "../../requests.ts";
import {
  type NumberedSession,
  STATE_CHECKS,
  STATE_COLUMNS,
  toNumberedSession,
} from "../../rows/state-row.ts";
import { entryNotFound, streamLost } from "../../store-errors.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { appendResult, executePlan, findResult } from "./append.ts";
import { writeFeed } from "./feed.ts";
import { replayed, sessionKeyQuery, storeResult } from "./idempotency.ts";
import {
  checkQuery,
  lockQuery,
  pointsQuery,
  toPoints,
  toSoundState,
  toState,
} from "./session-state.ts";

const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const STREAM_COLUMNS = `r.id, r.session, r.role, r.actor, r.metadata, r.model, r.adapter, r.holder,
  r.opened_at, r.expires_at, r.chunk_count, r.chunk_bytes, s.id AS session_id`;

const SQL = statements("streams", {
  insert: `INSERT INTO streams (tenant, id, session, role, actor, metadata, model, adapter, holder,
      opened_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${NOW_MS} + $11)`,
  find: `SELECT ${STREAM_COLUMNS} FROM streams r
    JOIN sessions s ON s.tenant = r.tenant AND s.session = r.session
    WHERE r.tenant = $1 AND r.id = $2`,
  lock: `SELECT ${STREAM_COLUMNS}, (r.expires_at < ${NOW_MS})::int AS expired FROM streams r
    JOIN sessions s ON s.tenant = r.tenant AND s.session = r.session
    WHERE r.tenant = $1 AND r.id = $2 FOR UPDATE OF r`,
  lockSession: `SELECT ${STATE_COLUMNS}, s.id AS session_id FROM streams r
    JOIN sessions s ON s.tenant = r.tenant AND s.session = r.session
    JOIN session_state t ON t.tenant = r.tenant AND t.session = r.session
    WHERE r.tenant = $1 AND r.id = $2 FOR UPDATE OF t`,
  checkSession: `SELECT ${STATE_CHECKS} FROM streams r
    JOIN session_state t ON t.tenant = r.tenant AND t.session = r.session
    WHERE r.tenant = $1 AND r.id = $2`,
  lockAll: `SELECT id FROM streams WHERE tenant = $1 AND session = $2 ORDER BY id FOR UPDATE`,
  expired: `SELECT r.id FROM streams r WHERE r.tenant = $1 AND r.expires_at < ${NOW_MS}
    ORDER BY r.expires_at LIMIT $2`,
  addChunk: `INSERT INTO stream_chunks (tenant, id, number, bytes) VALUES ($1, $2, $3, $4)`,
  renew: `UPDATE streams SET expires_at = ${NOW_MS} + $3, chunk_count = $4,
      chunk_bytes = chunk_bytes + $5 WHERE tenant = $1 AND id = $2`,
  takeOver: `UPDATE streams SET holder = $3, epoch = epoch + 1, expires_at = ${NOW_MS} + $4
    WHERE tenant = $1 AND id = $2`,
  chunks: `SELECT bytes FROM stream_chunks WHERE tenant = $1 AND id = $2 ORDER BY number`,
  deleteChunks: `DELETE FROM stream_chunks WHERE tenant = $1 AND id = $2`,
  deleteStream: `DELETE FROM streams WHERE tenant = $1 AND id = $2`,
  dropChunks: `DELETE FROM stream_chunks c USING streams r
    WHERE c.tenant = $1 AND r.tenant = $1 AND r.session = $2 AND c.id = r.id`,
  dropStreams: `DELETE FROM streams WHERE tenant = $1 AND session = $2`,
  entryStatus: `SELECT status FROM entries WHERE tenant = $1 AND id = $2`,
});

export async function openStream(
  tx: Transaction,
  request: OpenStreamRequest,
): Promise<{ readonly id: string }> {
  const { sessionId, idempotency } = request;
  const [locked, key] = await tx.together([
    lockQuery(tx, sessionId),
    sessionKeyQuery(tx, sessionId, idempotency),
  ]);
  const { number } = toState(locked, sessionId);
  const earlier = replayed(key, idempotency);
  if (earlier !== undefined) {
    const id = earlier.ids[0] ?? "";
    const [stream, ended] = await tx.together(streamQueries(tx, id));
    heldStream(id, stream, ended);
    tx.defer(SQL.takeOver, tx.tenant, id, request.holder, request.leaseMs);
    writeFeed(tx, [messageTakenOver(sessionId, id, request.now)]);
    return { id };
  }
  tx.defer(
    SQL.insert,
    tx.tenant,
    request.id,
    number,
    request.role,
    request.actor,
    request.metadata === null ? null : Buffer.from(request.metadata),
    request.model,
    request.adapter,
    request.holder,
    request.now,
    request.leaseMs,
  );
  storeResult(tx, number, idempotency, { ids: [request.id] }, request.now);
  writeFeed(tx, [messageOpened(sessionId, request.id, request.now)]);
  return { id: request.id };
}

export async function writeStream(tx: Transaction, request: WriteStreamRequest): Promise<void> {
  const { id, leaseMs } = request;
  const [rows, ended] = await tx.together(streamQueries(tx, id));
  const stream = heldStream(id, rows, ended, request.holder);
  const count = Number(stream["chunk_count"]);
  if (request.chunks === null) {
    tx.defer(SQL.renew, tx.tenant, id, leaseMs, count, 0);
    return;
  }
  const bytes = Buffer.from(request.chunks);
  checkPendingBytes(id, Number(stream["chunk_bytes"]) + bytes.length);
  tx.defer(SQL.addChunk, tx.tenant, id, count + 1, bytes);
  tx.defer(SQL.renew, tx.tenant, id, leaseMs, count + 1, bytes.length);
  writeFeed(tx, [messageChunk(String(stream["session_id"]), id, count + 1, request.now)]);
}

export async function commitStream(
  tx: Transaction,
  request: CommitStreamRequest,
): Promise<AppendResult> {
  const { sessionId, id, idempotency, now } = request;
  const named = [request.parentId, request.supersedes].filter((each) => typeof each === "string");
  const [locked, sound, key, points, stream, ended, chunks] = await tx.together([
    lockQuery(tx, sessionId),
    checkQuery(tx, sessionId),
    sessionKeyQuery(tx, sessionId, idempotency),
    pointsQuery(tx, sessionId, named),
    ...streamQueries(tx, id),
    query(SQL.chunks, tx.tenant, id),
  ]);
  const session = toSoundState(locked, sound, sessionId);
  const earlier = replayed(key, idempotency);
  if (earlier !== undefined) return findResult(tx, earlier.ids, session.state);
  const row = heldStream(id, stream, ended, request.holder);
  if (row["session_id"] !== sessionId) throw entryNotFound(id, sessionId);
  const entry = committedEntry(toPending(row, chunks ?? []), request);
  const expected = request.expectedLeaf === undefined ? {} : { expectedLeaf: request.expectedLeaf };
  const result = place(tx, session, entry, now, toPoints(points), expected);
  storeResult(tx, session.number, idempotency, { ids: [entry.id] }, now);
  return result;
}

export async function abortStream(
  tx: Transaction,
  request: AbortStreamRequest,
): Promise<AppendResult> {
  const [session, sound, stream, ended, chunks] = await abortQueries(tx, request.id);
  const row = heldStream(request.id, stream, ended, request.holder);
  return abort(tx, { ...session?.[0], ...sound?.[0] }, toPending(row, chunks ?? []), request);
}

/** Rechecks under the lock: aborts a message unless it ended, or its lease was renewed, since. */
export async function abortExpired(tx: Transaction, id: string, now: number): Promise<boolean> {
  const [session, sound, stream, , chunks] = await abortQueries(tx, id);
  const row = stream?.[0];
  if (row === undefined || row["expired"] !== 1) return false;
  const request = { id, chunks: null, reason: "lease_expired", now };
  abort(tx, { ...session?.[0], ...sound?.[0] }, toPending(row, chunks ?? []), request);
  return true;
}

/** The query for messages with an expired lease. */
export function expiredQuery(tx: Transaction, limit: number): Query {
  return query(SQL.expired, tx.tenant, limit);
}

/** At most `limit` messages with an expired lease. */
export async function listExpired(tx: Transaction, limit: number): Promise<string[]> {
  const [rows = []] = await tx.together([expiredQuery(tx, limit)]);
  return rows.map((row) => String(row["id"]));
}

/** Deletes the pending messages of a session that is being deleted. */
export function dropStreams(tx: Transaction, session: number): void {
  // A writer may be adding a chunk: once its message is locked, the chunk is visible.
  tx.defer(SQL.lockAll, tx.tenant, session);
  tx.defer(SQL.dropChunks, tx.tenant, session);
  tx.defer(SQL.dropStreams, tx.tenant, session);
}

export async function findPending(tx: Transaction, id: string): Promise<PendingRecord | undefined> {
  const [rows, chunks] = await tx.together([
    query(SQL.find, tx.tenant, id),
    query(SQL.chunks, tx.tenant, id),
  ]);
  const row = rows?.[0];
  return row === undefined ? undefined : toPending(row, chunks ?? []);
}

/** Queries a pending message, locked, and the entry that it may have become. */
function streamQueries(tx: Transaction, id: string): Query[] {
  return [query(SQL.lock, tx.tenant, id), query(SQL.entryStatus, tx.tenant, id)];
}

function abortQueries(tx: Transaction, id: string): Promise<(readonly Row[])[]> {
  return tx.together([
    query(SQL.lockSession, tx.tenant, id),
    query(SQL.checkSession, tx.tenant, id),
    ...streamQueries(tx, id),
    query(SQL.chunks, tx.tenant, id),
  ]);
}

/** The pending message if `holder` holds it; throws `stream_lost` if it was ended or taken over. */
function heldStream(
  id: string,
  stream: readonly Row[] | undefined,
  ended: readonly Row[] | undefined,
  holder?: string,
): Row {
  const row = stream?.[0];
  if (row !== undefined && (holder === undefined || row["holder"] === holder)) return row;
  if (row === undefined && ended?.[0] === undefined) throw entryNotFound(id);
  throw streamLost(id);
}

function abort(
  tx: Transaction,
  session: Row,
  pending: PendingRecord,
  request: AbortStreamRequest,
): AppendResult {
  const numbered = toNumberedSession(session, pending.sessionId);
  return place(tx, numbered, abortedEntry(pending, request), request.now, new Map());
}

function place(
  tx: Transaction,
  session: NumberedSession,
  entry: NewEntry,
  now: number,
  points: ReadonlyMap<string, Point>,
  expected: { readonly expectedLeaf?: string | null } = {},
): AppendResult {
  const { number, state } = session;
  const request = { sessionId: state.sessionId, entries: [entry], now, ...expected };
  const plan = planAppend(state, request, points);
  tx.defer(SQL.deleteChunks, tx.tenant, entry.id);
  tx.defer(SQL.deleteStream, tx.tenant, entry.id);
  executePlan(tx, number, plan, now, new Set());
  writeFeed(tx, plan.changes, planDelta(plan));
  return appendResult(plan);
}
