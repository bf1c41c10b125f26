/**
 * Pending messages.
 *
 * A pending message has an id, a lease and chunks, but no place in the tree: the commit places it
 * on the current leaf, so that two pending messages cannot fork a session by accident.
 */

import {
  messageChunk,
  messageOpened,
  messageTakenOver,
  planDelta,
} from "../../plan/new-changes.ts";
import { namedEntries, placedEntry, planAppend } from "../../plan/plan-append.ts";
import {
  abortedEntry,
  checkPendingBytes,
  committedEntry,
  toPending,
} from "../../plan/plan-stream.ts";
import type { AppendResult, NewEntry } from "../../records.ts";
import type {
  AbortStreamRequest,
  CommitStreamRequest,
  OpenStreamRequest,
  PendingRecord,
  WriteStreamRequest,
} from "../../requests.ts";
import type { NumberedSession } from "../../rows/state-row.ts";
import { entryNotFound, sessionNotFound, streamLost } from "../../store-errors.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { NOW, statements } from "../sqlite-statements.ts";
import { executePlan, findPoints, readState, replayedResult } from "./append.ts";
import { findTenant, planFeed, writeFeed, writePlannedFeed } from "./feed.ts";
import { replayed, storeResult } from "./idempotency.ts";

const SQL = statements("streams", {
  insert: `INSERT INTO streams (tenant, id, session, role, actor, metadata, model, adapter, holder,
      opened_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${NOW} + ?)`,
  find: `SELECT r.id, r.session, r.role, r.actor, r.metadata, r.model, r.adapter, r.holder,
      r.opened_at, r.expires_at, r.chunk_count, r.chunk_bytes, s.id AS session_id
    FROM streams r JOIN sessions s ON s.tenant = r.tenant AND s.session = r.session
    WHERE r.tenant = ? AND r.id = ?`,
  expired: `SELECT r.id FROM streams r WHERE r.tenant = ?
    AND r.expires_at < ${NOW} ORDER BY r.expires_at LIMIT ?`,
  addChunk: `INSERT INTO stream_chunks (tenant, id, number, bytes) VALUES (?, ?, ?, ?)`,
  renew: `UPDATE streams SET expires_at = ${NOW} + ?,
      chunk_count = ?, chunk_bytes = chunk_bytes + ? WHERE tenant = ? AND id = ?`,
  takeOver: `UPDATE streams SET holder = ?, epoch = epoch + 1,
      expires_at = ${NOW} + ? WHERE tenant = ? AND id = ?`,
  chunks: `SELECT bytes FROM stream_chunks WHERE tenant = ? AND id = ? ORDER BY number`,
  deleteChunks: `DELETE FROM stream_chunks WHERE tenant = ? AND id = ?`,
  deleteStream: `DELETE FROM streams WHERE tenant = ? AND id = ?`,
  entryStatus: `SELECT status FROM entries WHERE tenant = ? AND id = ?`,
  listBySession: `SELECT id FROM streams WHERE tenant = ? AND session = ?`,
});

export function openStream(
  db: SqliteConnection,
  name: string,
  request: OpenStreamRequest,
): { readonly id: string } {
  const tenant = findTenant(db, name);
  const { number } = readState(db, tenant, request.sessionId);
  if (tenant === undefined) throw sessionNotFound(request.sessionId);
  const earlier = replayed(db, tenant, number, request.idempotency);
  if (earlier !== undefined) {
    const id = earlier.ids[0] ?? "";
    heldStream(db, tenant, id);
    db.run(SQL.takeOver, request.holder, request.leaseMs, tenant, id);
    writeFeed(db, tenant, [messageTakenOver(request.sessionId, id, request.now)]);
    return { id };
  }
  db.run(
    SQL.insert,
    tenant,
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
  storeResult(db, tenant, number, request.idempotency, { ids: [request.id] }, request.now);
  writeFeed(db, tenant, [messageOpened(request.sessionId, request.id, request.now)]);
  return { id: request.id };
}

export function writeStream(db: SqliteConnection, name: string, request: WriteStreamRequest): void {
  const tenant = findTenant(db, name);
  const stream = heldStream(db, tenant, request.id, request.holder);
  if (tenant === undefined) return;
  const count = Number(stream["chunk_count"]);
  if (request.chunks === null) {
    db.run(SQL.renew, request.leaseMs, count, 0, tenant, request.id);
    return;
  }
  const bytes = Buffer.from(request.chunks);
  checkPendingBytes(request.id, Number(stream["chunk_bytes"]) + bytes.length);
  db.run(SQL.addChunk, tenant, request.id, count + 1, bytes);
  db.run(SQL.renew, request.leaseMs, count + 1, bytes.length, tenant, request.id);
  const sessionId = String(stream["session_id"]);
  writeFeed(db, tenant, [messageChunk(sessionId, request.id, count + 1, request.now)]);
}

export function commitStream(
  db: SqliteConnection,
  name: string,
  request: CommitStreamRequest,
): AppendResult {
  const tenant = findTenant(db, name);
  const session = readState(db, tenant, request.sessionId);
  if (tenant === undefined) throw sessionNotFound(request.sessionId);
  const earlier = replayed(db, tenant, session.number, request.idempotency);
  if (earlier !== undefined) return replayedResult(db, tenant, earlier.ids, session.state);
  const stream = heldStream(db, tenant, request.id, request.holder);
  if (stream["session_id"] !== request.sessionId) {
    throw entryNotFound(request.id, request.sessionId);
  }
  const entry = committedEntry(readPending(db, tenant, request.id), request);
  const expected = request.expectedLeaf === undefined ? {} : { expectedLeaf: request.expectedLeaf };
  const result = place(db, tenant, session, entry, request.now, expected);
  storeResult(db, tenant, session.number, request.idempotency, { ids: [entry.id] }, request.now);
  return result;
}

export function abortStream(
  db: SqliteConnection,
  name: string,
  request: AbortStreamRequest,
): AppendResult {
  const tenant = findTenant(db, name);
  const stream = heldStream(db, tenant, request.id, request.holder);
  if (tenant === undefined) throw streamLost(request.id);
  const session = readState(db, tenant, String(stream["session_id"]));
  const pending = readPending(db, tenant, request.id);
  return place(db, tenant, session, abortedEntry(pending, request), request.now);
}

/** Aborts at most `limit` messages with an expired lease. */
export function abortExpired(
  db: SqliteConnection,
  name: string,
  now: number,
  limit: number,
): string[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  const ids = db.all(SQL.expired, tenant, limit).map((row) => String(row["id"]));
  for (const id of ids) {
    abortStream(db, name, { id, chunks: null, reason: "lease_expired", now });
  }
  return ids;
}

/** Deletes the pending messages of a session that is being deleted. */
export function dropStreams(db: SqliteConnection, tenant: number, session: number): void {
  for (const row of db.all(SQL.listBySession, tenant, session))
    remove(db, tenant, String(row["id"]));
}

export function findPending(
  db: SqliteConnection,
  name: string,
  id: string,
): PendingRecord | undefined {
  const tenant = findTenant(db, name);
  if (tenant === undefined || db.get(SQL.find, tenant, id) === undefined) return undefined;
  return readPending(db, tenant, id);
}

function place(
  db: SqliteConnection,
  tenant: number,
  session: NumberedSession,
  entry: NewEntry,
  now: number,
  expected: { readonly expectedLeaf?: string | null } = {},
): AppendResult {
  const { number, state } = session;
  const points = findPoints(db, tenant, number, namedEntries([entry]));
  const plan = planAppend(
    state,
    { sessionId: state.sessionId, entries: [entry], now, ...expected },
    points,
  );
  remove(db, tenant, entry.id);
  const feed = planFeed(db, tenant, plan.changes);
  executePlan(db, tenant, number, plan, feed, now);
  writePlannedFeed(db, tenant, feed, planDelta(plan));
  return { entries: plan.rows.map(placedEntry), leaf: plan.leaf?.id ?? null, replayed: false };
}

/** The pending message if `holder` holds it; throws `stream_lost` if it was ended or taken over. */
function heldStream(
  db: SqliteConnection,
  tenant: number | undefined,
  id: string,
  holder?: string,
): SqlRow {
  const row = tenant === undefined ? undefined : db.get(SQL.find, tenant, id);
  if (row !== undefined && (holder === undefined || row["holder"] === holder)) return row;
  const ended = tenant === undefined ? undefined : db.get(SQL.entryStatus, tenant, id);
  if (row === undefined && ended === undefined) throw entryNotFound(id);
  throw streamLost(id);
}

function readPending(db: SqliteConnection, tenant: number, id: string): PendingRecord {
  return toPending(db.get(SQL.find, tenant, id) as SqlRow, db.all(SQL.chunks, tenant, id));
}

function remove(db: SqliteConnection, tenant: number, id: string): void {
  db.run(SQL.deleteChunks, tenant, id);
  db.run(SQL.deleteStream, tenant, id);
}
