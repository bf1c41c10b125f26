/** Creates, reads and updates sessions. */

import type { Session } from "../../../model/session.ts";
import { entryPinned, leafMoved, sessionCreated, sessionUpdated } from "../../plan/new-changes.ts";
import { leafValues } from "../../plan/plan-append.ts";
import type {
  ForkOrigin,
  ModelCount,
  MoveLeafRequest,
  NewSession,
  Row,
  SessionPatch,
  SessionSize,
  UsageSum,
} from "../../records.ts";
import { IS_THERE } from "../../rows/deleted-session.ts";
import {
  SESSION_COLUMNS,
  toModelCount,
  toSession,
  toSessionSize,
  toUsageSum,
  USAGE_SUMS,
} from "../../rows/session-row.ts";
import {
  changedValues,
  insertSessionSql,
  newSessionValues,
  updateSessionSql,
} from "../../rows/session-values.ts";
import {
  chooseShortId,
  MAX_REFS,
  ownIdOf,
  REF_COLUMNS,
  refRange,
  type SessionRef,
  shortIdCandidates,
  toSessionRef,
} from "../../session-ref.ts";
import {
  checkExpectedLeaf,
  checkNode,
  entryNotFound,
  sessionExists,
  sessionNotFound,
} from "../../store-errors.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { claimSessionQuery, ensureTenant, writeFeed } from "./feed.ts";
import { keyQuery, replayed, storeResult } from "./idempotency.ts";
import { lockQuery, lockSession, pointsQuery, toPoints, toState } from "./session-state.ts";

const SQL = statements("sessions", {
  findById: `SELECT ${SESSION_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = $2`,
  findByOrigin: `SELECT ${SESSION_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.origin_key = $2`,
  sizes: `SELECT s.id, t.content_bytes, (SELECT count(*) FROM streams r
        WHERE r.tenant = s.tenant AND r.session = s.session) AS open_messages
    FROM sessions s JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = ANY ($2)`,
  models: `SELECT m.model, count(*) AS sessions FROM sessions s
    JOIN session_models m ON m.tenant = s.tenant AND m.session = s.session
    WHERE s.tenant = $1 AND s.id = ANY ($2) AND ${IS_THERE} GROUP BY m.model`,
  usage: `SELECT ${USAGE_SUMS} FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND e.session = s.session
    WHERE s.tenant = $1 AND s.id = ANY ($2) AND ${IS_THERE}
      AND e.input_tokens IS NOT NULL AND e.copied_from IS NULL
    GROUP BY s.session, s.id, e.model, span ORDER BY s.session, span, e.model NULLS FIRST`,
  insertSession: insertSessionSql((n) => `$${n}`),
  /** Including soft-deleted sessions. */
  takenId: `SELECT session FROM sessions WHERE tenant = $1 AND id = $2`,
  shortIds: `SELECT short_id FROM sessions
    WHERE tenant = $1 AND short_id = ANY ($2)`,
  findRefs: `SELECT ${REF_COLUMNS} FROM sessions s
    WHERE s.tenant = $1 AND ${IS_THERE} AND s.session IN (
      SELECT session FROM sessions WHERE tenant = $1 AND short_id = $2
      UNION (SELECT session FROM sessions WHERE tenant = $1 AND own_id = $2 LIMIT $5)
      UNION (SELECT session FROM sessions
        WHERE tenant = $1 AND short_id >= $3 AND short_id < $4 LIMIT $5)
      UNION (SELECT session FROM sessions
        WHERE tenant = $1 AND own_id >= $3 AND own_id < $4 LIMIT $5)
      UNION (SELECT session FROM sessions WHERE tenant = $1 AND id >= $3 AND id < $4 LIMIT $5))
    ORDER BY s.session`,
  insertState: `INSERT INTO session_state
      (tenant, session, updated_at, last_interaction_at, last_write_at)
    VALUES ($1, $2, $3, $3, $4)`,
  updateSession: updateSessionSql((n) => `$${n}`),
  touch: `UPDATE session_state SET last_write_at = greatest(last_write_at, $3)
    WHERE tenant = $1 AND session = $2`,
  add: `INSERT INTO participants (tenant, session, actor, position)
    SELECT $1::bigint, $2::bigint, joining.actor, row_number() OVER (ORDER BY joining.rank)
      + (SELECT coalesce(max(p.position), 0) FROM participants p
        WHERE p.tenant = $1 AND p.session = $2)
    FROM unnest($3::text[]) WITH ORDINALITY AS joining (actor, rank)
    WHERE NOT EXISTS (SELECT 1 FROM participants p
      WHERE p.tenant = $1 AND p.session = $2 AND p.actor = joining.actor)`,
  list: `SELECT session, actor FROM participants WHERE tenant = $1 AND session = ANY ($2)
    ORDER BY session, position`,
  listById: `SELECT p.session, p.actor FROM sessions s
    JOIN participants p ON p.tenant = s.tenant AND p.session = s.session
    WHERE s.tenant = $1 AND s.id = $2 ORDER BY p.position`,
  clear: `DELETE FROM participants WHERE tenant = $1 AND session = $2`,
  move: `UPDATE session_state SET leaf_id = $3, leaf_sequence = $4, leaf_chain = $5,
      leaf_depth = $6, leaf_ordinal = $7, leaf_hash = $8, leaf_at_tip = $9,
      last_write_at = greatest(last_write_at, $10)
    WHERE tenant = $1 AND session = $2`,
  pin: `UPDATE entries SET pinned = $4 WHERE tenant = $1 AND session = $2 AND id = $3 RETURNING id`,
});

/** Values of a new session chosen under the tenant's lock. */
export interface ClaimedSession {
  readonly number: number;
  readonly shortId: string | null;
}

export async function createSession(tx: Transaction, session: NewSession): Promise<Session> {
  await ensureTenant(tx, session.now);
  const claim = await claimSession(tx, session);
  if ("replayed" in claim) return getSession(tx, claim.replayed);
  insertSession(tx, claim, session);
  storeResult(tx, 0, session.idempotency, { ids: [session.id] }, session.now);
  writeFeed(tx, [sessionCreated(session.id, session.now)], { sessions: 1 });
  return commitSession(tx, session.id);
}

/**
 * Claims the number and the short id of a new session. Gives an existing session's id if the same
 * request created it before, or if it has the same origin and the request accepts that. Throws
 * `session_exists` for a taken id or origin.
 */
export async function claimSession(
  tx: Transaction,
  session: NewSession,
): Promise<ClaimedSession | { readonly replayed: string }> {
  const { key: originKey } = session.origin;
  const ownId = ownIdOf(session.origin);
  const candidates = shortIdCandidates(session.id, ownId);
  // Claims the number first, which serialises the creation of sessions in this tenant.
  const [claimed, key, sameId, alike, sameOrigin] = await tx.together([
    claimSessionQuery(tx),
    keyQuery(tx, session.idempotency),
    query(SQL.takenId, tx.tenant, session.id),
    query(SQL.shortIds, tx.tenant, candidates),
    originKey === undefined ? undefined : query(SQL.findByOrigin, tx.tenant, originKey),
  ]);
  const earlier = replayed(key, session.idempotency);
  if (earlier !== undefined) return { replayed: earlier.ids[0] ?? "" };
  if (session.orExisting === true && sameOrigin?.[0] !== undefined) {
    return { replayed: String(sameOrigin[0]["id"]) };
  }
  if (sameId?.[0] !== undefined) throw sessionExists("id", session.id);
  if (sameOrigin?.[0] !== undefined) throw sessionExists("origin key", originKey ?? "");
  const taken = new Set((alike ?? []).map((row) => String(row["short_id"])));
  return {
    number: Number(claimed?.[0]?.["last_session"]),
    shortId: chooseShortId(candidates, taken),
  };
}

/** Writes the rows of a new session; the caller writes the feed. */
export function insertSession(
  tx: Transaction,
  claim: ClaimedSession,
  session: NewSession,
  fork: ForkOrigin | undefined = session.fork,
): void {
  const { number } = claim;
  tx.defer(SQL.insertSession, tx.tenant, number, ...newSessionValues(session, fork, claim.shortId));
  tx.defer(SQL.insertState, tx.tenant, number, session.startedAt, session.now);
  addParticipants(tx, number, session.participants);
}

export async function updateSession(
  tx: Transaction,
  id: string,
  patch: SessionPatch,
  now: number,
): Promise<Session> {
  const key = patch.origin?.key;
  const [locked, sameOrigin, ...found] = await tx.together([
    lockQuery(tx, id),
    key === undefined ? undefined : query(SQL.findByOrigin, tx.tenant, key),
    ...sessionQueries(tx, id),
  ]);
  const { number } = toState(locked, id);
  const session = foundSession(tx, id, found);
  if (sameOrigin?.[0] !== undefined && sameOrigin[0]["id"] !== id) {
    throw sessionExists("origin key", key ?? "");
  }
  tx.defer(SQL.updateSession, tx.tenant, number, ...changedValues(session, patch));
  if (patch.participants !== undefined) {
    clearParticipants(tx, number);
    addParticipants(tx, number, patch.participants);
  }
  tx.defer(SQL.touch, tx.tenant, number, now);
  writeFeed(tx, [sessionUpdated(id, patch, now)]);
  return commitSession(tx, id);
}

/** Commits, and gives the resulting session. */
export async function commitSession(tx: Transaction, id: string): Promise<Session> {
  return foundSession(tx, id, await tx.commit(sessionQueries(tx, id)));
}

export async function getSession(tx: Transaction, id: string): Promise<Session> {
  return foundSession(tx, id, await tx.together(sessionQueries(tx, id)));
}

export async function findSession(tx: Transaction, id: string): Promise<Session | undefined> {
  const [rows, participants] = await tx.together(sessionQueries(tx, id));
  return joinSessions(tx, rows ?? [], participants ?? [])[0];
}

export async function findSessionByOrigin(
  tx: Transaction,
  key: string,
): Promise<Session | undefined> {
  const sessions = await toSessions(tx, await tx.all(SQL.findByOrigin, tx.tenant, key));
  return sessions[0];
}

/** The sessions that `ref` names, or whose ids have it as a prefix: see `namedRefs`. */
export async function findSessionRefs(tx: Transaction, ref: string): Promise<SessionRef[]> {
  return (await tx.all(SQL.findRefs, tx.tenant, ...refRange(ref), MAX_REFS)).map(toSessionRef);
}

export async function readSessionSizes(
  tx: Transaction,
  ids: readonly string[],
): Promise<SessionSize[]> {
  return (await tx.all(SQL.sizes, tx.tenant, ids)).map(toSessionSize);
}

export async function readUsage(tx: Transaction, ids: readonly string[]): Promise<UsageSum[]> {
  return (await tx.all(SQL.usage, tx.tenant, ids)).map(toUsageSum);
}

export async function countModels(tx: Transaction, ids: readonly string[]): Promise<ModelCount[]> {
  return (await tx.all(SQL.models, tx.tenant, ids)).map(toModelCount);
}

export async function toSessions(tx: Transaction, rows: readonly Row[]): Promise<Session[]> {
  if (rows.length === 0) return [];
  const numbers = rows.map((row) => Number(row["session"]));
  const [participants] = await tx.together([participantsQuery(tx, numbers)]);
  return joinSessions(tx, rows, participants ?? []);
}

function sessionQueries(tx: Transaction, id: string): Query[] {
  return [query(SQL.findById, tx.tenant, id), sessionParticipantsQuery(tx, id)];
}

function foundSession(tx: Transaction, id: string, answers: (readonly Row[])[]): Session {
  const [rows, participants] = answers;
  const [session] = joinSessions(tx, rows ?? [], participants ?? []);
  if (session === undefined) throw sessionNotFound(id);
  return session;
}

function joinSessions(
  tx: Transaction,
  rows: readonly Row[],
  participants: readonly Row[],
): Session[] {
  const actors = Map.groupBy(participants, (row) => Number(row["session"]));
  return rows.map((row) => {
    const joined = actors.get(Number(row["session"])) ?? [];
    return toSession(
      tx.name,
      row,
      joined.map((each) => String(each["actor"])),
    );
  });
}

/** An existing participant keeps its position. */
export function addParticipants(tx: Transaction, session: number, actors: readonly string[]): void {
  if (actors.length === 0) return;
  tx.defer(SQL.add, tx.tenant, session, [...new Set(actors)]);
}

export function clearParticipants(tx: Transaction, session: number): void {
  tx.defer(SQL.clear, tx.tenant, session);
}

/** Queries the participants of sessions, by number. */
function participantsQuery(tx: Transaction, sessions: readonly number[]): Query {
  return query(SQL.list, tx.tenant, sessions);
}

/** Queries the participants of one session, by id. */
function sessionParticipantsQuery(tx: Transaction, sessionId: string): Query {
  return query(SQL.listById, tx.tenant, sessionId);
}

export async function moveLeaf(tx: Transaction, request: MoveLeafRequest): Promise<void> {
  const { sessionId } = request;
  const [locked, points] = await tx.together([
    lockQuery(tx, sessionId),
    pointsQuery(tx, sessionId, request.leaf === null ? [] : [request.leaf]),
  ]);
  const { number, state } = toState(locked, sessionId);
  checkExpectedLeaf(sessionId, state.leaf?.id ?? null, request.expectedLeaf);
  const leaf = request.leaf === null ? null : toPoints(points).get(request.leaf);
  if (leaf === undefined) throw entryNotFound(request.leaf ?? "", sessionId);
  if (leaf !== null) checkNode(leaf, sessionId);
  tx.defer(SQL.move, tx.tenant, number, ...leafValues(leaf), request.now);
  writeFeed(tx, [leafMoved(request, state.leaf?.id ?? null)]);
}

export async function setPinned(
  tx: Transaction,
  sessionId: string,
  entryId: string,
  pinned: boolean,
  now: number,
): Promise<void> {
  const { number } = await lockSession(tx, sessionId);
  const row = await tx.get(SQL.pin, tx.tenant, number, entryId, pinned ? 1 : 0);
  if (row === undefined) throw entryNotFound(entryId, sessionId);
  writeFeed(tx, [entryPinned(sessionId, entryId, pinned, now)]);
}
