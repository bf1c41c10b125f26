/** Creates, reads and updates sessions. */

import type { Session } from "../../../model/session.ts";
import {
  MAX_REFS,
  REF_COLUMNS,
  refRange,
  type SessionRef,
  toSessionRef,
} from "../../ids/session-ref.ts";
import { chooseShortId, ownIdOf, shortIdCandidates } from "../../ids/short-id.ts";
import { patchedMetadata } from "../../metadata.ts";
import { sessionCreated, sessionUpdated } from "../../new-changes.ts";
import type {
  ForkOrigin,
  NewSession,
  Row,
  SessionPatch,
  SessionSize,
  UsageSum,
} from "../../records.ts";
import {
  figureValues,
  originValues,
  SESSION_COLUMNS,
  toSession,
  toSessionSize,
  toUsageSum,
  USAGE_SUMS,
} from "../../rows/session-row.ts";
import { sessionExists, sessionNotFound } from "../../store-errors.ts";
import { foldTitle } from "../../title.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { claimSessionQuestion, ensureTenant, writeFeed } from "./feed.ts";
import { keyQuestion, replayed, storeResult } from "./idempotency.ts";
import {
  addParticipants,
  clearParticipants,
  participantsQuestion,
  sessionParticipantsQuestion,
} from "./participants.ts";
import { lockQuestion, toState } from "./session-state.ts";

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
  usage: `SELECT ${USAGE_SUMS} FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND e.session = s.session
    WHERE s.tenant = $1 AND s.id = ANY ($2)
      AND e.input_tokens IS NOT NULL AND e.copied_from IS NULL
    GROUP BY s.session, s.id, e.model, span ORDER BY s.session, span, e.model NULLS FIRST`,
  insertSession: `INSERT INTO sessions (tenant, session, id, agent, created_by, owner, created_at,
      started_at, title, title_folded, metadata, ttl_seconds, retention, parent_session_id,
      fork_entry_id, root_hash, source, workstation, project_id, project_path, git_branch, repo, file,
      origin_key, exchange_count, tool_counts, file_mtime, first_msg_at, last_msg_at,
      cost_usd, own_id, short_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
      $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)`,
  shortIds: `SELECT short_id FROM sessions
    WHERE tenant = $1 AND short_id = ANY ($2)`,
  findRefs: `SELECT ${REF_COLUMNS} FROM sessions s WHERE s.tenant = $1 AND s.session IN (
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
  /** Another retention is still to be applied to all that was summarised before. */
  updateSession: `UPDATE sessions SET title = $3, title_folded = $4, owner = $5, summary = $6,
      metadata = $7, ttl_seconds = $8, retention = $9,
      retention_applied = CASE WHEN coalesce(retention, 'full') = $9 THEN retention_applied END,
      exchange_count = coalesce($10, exchange_count), tool_counts = coalesce($11, tool_counts),
      file_mtime = coalesce($12, file_mtime), first_msg_at = coalesce($13, first_msg_at),
      last_msg_at = coalesce($14, last_msg_at), cost_usd = coalesce($15, cost_usd),
      origin_key = coalesce($16, origin_key), project_id = coalesce($17, project_id),
      project_path = coalesce($18, project_path), git_branch = coalesce($19, git_branch),
      repo = coalesce($20, repo)
    WHERE tenant = $1 AND session = $2`,
  touch: `UPDATE session_state SET last_write_at = greatest(last_write_at, $3)
    WHERE tenant = $1 AND session = $2`,
});

/** Values of a new session that are chosen under the tenant's lock. */
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
 * The number and the short id of a new session, or the id of the one that the same request has made before.
 * `session_exists` if its id or its origin is taken.
 */
export async function claimSession(
  tx: Transaction,
  session: NewSession,
): Promise<ClaimedSession | { readonly replayed: string }> {
  const { key: originKey } = session.origin;
  const ownId = ownIdOf(session.origin);
  const candidates = shortIdCandidates(session.id, ownId);
  // Claim the key first: it serialises the creation of sessions in this tenant.
  const [claimed, key, sameId, alike, sameOrigin] = await tx.together([
    claimSessionQuestion(tx),
    keyQuestion(tx, session.idempotency),
    query(SQL.findById, tx.tenant, session.id),
    query(SQL.shortIds, tx.tenant, candidates),
    originKey === undefined ? undefined : query(SQL.findByOrigin, tx.tenant, originKey),
  ]);
  const earlier = replayed(key, session.idempotency);
  if (earlier !== undefined) return { replayed: earlier.ids[0] ?? "" };
  if (sameId?.[0] !== undefined) throw sessionExists("id", session.id);
  if (sameOrigin?.[0] !== undefined) throw sessionExists("origin key", originKey ?? "");
  const taken = new Set((alike ?? []).map((row) => String(row["short_id"])));
  return {
    number: Number(claimed?.[0]?.["last_session"]),
    shortId: chooseShortId(candidates, taken),
  };
}

/** Writes the rows of a new session; the feed is the caller's. */
export function insertSession(
  tx: Transaction,
  claim: ClaimedSession,
  session: NewSession,
  fork: ForkOrigin | undefined = session.fork,
): void {
  const { origin } = session;
  const { number } = claim;
  tx.defer(
    SQL.insertSession,
    tx.tenant,
    number,
    session.id,
    session.agent,
    session.createdBy,
    session.owner,
    session.createdAt ?? session.now,
    session.startedAt,
    session.title,
    foldTitle(session.title),
    Buffer.from(JSON.stringify(session.metadata)),
    session.ttl,
    session.retention,
    fork?.parentSessionId ?? null,
    fork?.forkPoint ?? null,
    fork?.rootHash ?? null,
    origin.source ?? null,
    origin.workstation ?? null,
    origin.projectId ?? null,
    origin.projectPath ?? null,
    origin.gitBranch ?? null,
    origin.repo ?? null,
    origin.file ?? null,
    origin.key ?? null,
    ...figureValues(session.figures),
    ownIdOf(origin),
    claim.shortId,
  );
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
    lockQuestion(tx, id),
    key === undefined ? undefined : query(SQL.findByOrigin, tx.tenant, key),
    ...sessionQuestions(tx, id),
  ]);
  const { number } = toState(locked, id);
  const session = foundSession(tx, id, found);
  if (sameOrigin?.[0] !== undefined && sameOrigin[0]["id"] !== id) {
    throw sessionExists("origin key", key ?? "");
  }
  const title = patch.title ?? session.title;
  tx.defer(
    SQL.updateSession,
    tx.tenant,
    number,
    title,
    foldTitle(title),
    patch.owner ?? session.owner,
    patch.summary === undefined ? session.summary : patch.summary,
    Buffer.from(JSON.stringify(patchedMetadata(session.metadata, patch))),
    patch.ttl === undefined ? session.ttl : patch.ttl,
    patch.retention ?? session.retention,
    ...figureValues(patch.figures),
    ...originValues(patch.origin),
  );
  if (patch.participants !== undefined) {
    clearParticipants(tx, number);
    addParticipants(tx, number, patch.participants);
  }
  tx.defer(SQL.touch, tx.tenant, number, now);
  writeFeed(tx, [sessionUpdated(id, patch, now)]);
  return commitSession(tx, id);
}

/** Commits, and gives the session as it is then. */
export async function commitSession(tx: Transaction, id: string): Promise<Session> {
  return foundSession(tx, id, await tx.commit(sessionQuestions(tx, id)));
}

export async function getSession(tx: Transaction, id: string): Promise<Session> {
  return foundSession(tx, id, await tx.together(sessionQuestions(tx, id)));
}

export async function findSession(tx: Transaction, id: string): Promise<Session | undefined> {
  const [rows, participants] = await tx.together(sessionQuestions(tx, id));
  return joinSessions(tx, rows ?? [], participants ?? [])[0];
}

export async function findSessionByOrigin(
  tx: Transaction,
  key: string,
): Promise<Session | undefined> {
  const sessions = await toSessions(tx, await tx.all(SQL.findByOrigin, tx.tenant, key));
  return sessions[0];
}

/** The sessions that `ref` names, or whose ids begin with it: see `namedRefs`. */
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

export async function toSessions(tx: Transaction, rows: readonly Row[]): Promise<Session[]> {
  if (rows.length === 0) return [];
  const numbers = rows.map((row) => Number(row["session"]));
  const [participants] = await tx.together([participantsQuestion(tx, numbers)]);
  return joinSessions(tx, rows, participants ?? []);
}

function sessionQuestions(tx: Transaction, id: string): Query[] {
  return [query(SQL.findById, tx.tenant, id), sessionParticipantsQuestion(tx, id)];
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
