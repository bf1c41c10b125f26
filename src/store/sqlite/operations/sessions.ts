/** Creates, reads and updates sessions. */

import type { Session } from "../../../model/session.ts";
import { sessionCreated, sessionUpdated } from "../../plan/new-changes.ts";
import type {
  ForkOrigin,
  ModelCount,
  NewSession,
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
import { sessionExists, sessionNotFound } from "../../store-errors.ts";
import type { SqliteConnection, SqlRow } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant, nextSessionNumber, writeFeed } from "./feed.ts";
import { replayed, storeResult } from "./idempotency.ts";

const SQL = statements("sessions", {
  findById: `SELECT ${SESSION_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.id = ?`,
  findByOrigin: `SELECT ${SESSION_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.origin_key = ?`,
  sizes: `SELECT s.id, t.content_bytes, (SELECT count(*) FROM streams r
        WHERE r.tenant = s.tenant AND r.session = s.session) AS open_messages
    FROM sessions s JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ? AND s.id IN (SELECT value FROM json_each(?))`,
  usage: `SELECT ${USAGE_SUMS} FROM sessions s
    JOIN entries e ON e.tenant = s.tenant AND e.session = s.session
    WHERE s.tenant = ? AND s.id IN (SELECT value FROM json_each(?)) AND ${IS_THERE}
      AND e.input_tokens IS NOT NULL AND e.copied_from IS NULL
    GROUP BY s.session, e.model, span ORDER BY s.session, span, e.model`,
  models: `SELECT m.model, count(*) AS sessions FROM sessions s
    CROSS JOIN session_models m ON m.tenant = s.tenant AND m.session = s.session
    WHERE s.tenant = ? AND s.id IN (SELECT value FROM json_each(?)) AND ${IS_THERE}
    GROUP BY m.model`,
  numberById: `SELECT s.session FROM sessions s WHERE s.tenant = ? AND s.id = ? AND ${IS_THERE}`,
  /** Including soft-deleted sessions. */
  takenId: `SELECT session FROM sessions WHERE tenant = ? AND id = ?`,
  insertSession: insertSessionSql((n) => `?${n}`),
  shortIds: `SELECT short_id FROM sessions
    WHERE tenant = ? AND short_id IN (SELECT value FROM json_each(?))`,
  findRefs: `SELECT ${REF_COLUMNS} FROM sessions s
    WHERE s.tenant = ?1 AND ${IS_THERE} AND s.session IN (
      SELECT session FROM sessions WHERE tenant = ?1 AND short_id = ?2
      UNION SELECT session FROM (SELECT session FROM sessions
        WHERE tenant = ?1 AND own_id >= ?2 AND own_id <= ?2 LIMIT ?5)
      UNION SELECT session FROM (SELECT session FROM sessions
        WHERE tenant = ?1 AND short_id >= ?3 AND short_id < ?4 LIMIT ?5)
      UNION SELECT session FROM (SELECT session FROM sessions
        WHERE tenant = ?1 AND own_id >= ?3 AND own_id < ?4 LIMIT ?5)
      UNION SELECT session FROM (SELECT session FROM sessions
        WHERE tenant = ?1 AND id >= ?3 AND id < ?4 LIMIT ?5))
    ORDER BY s.session`,
  insertState: `INSERT INTO session_state
      (tenant, session, updated_at, last_interaction_at, last_write_at) VALUES (?, ?, ?, ?, ?)`,
  updateSession: updateSessionSql((n) => `?${n}`),
  touch: `UPDATE session_state SET last_write_at = max(last_write_at, ?)
    WHERE tenant = ? AND session = ?`,
  listParticipants: `SELECT session, actor FROM participants
    WHERE tenant = ? AND session IN (SELECT value FROM json_each(?)) ORDER BY session, position`,
  addParticipant: `INSERT INTO participants (tenant, session, actor, position)
    VALUES (?, ?, ?, (SELECT coalesce(max(position), 0) + 1 FROM participants
      WHERE tenant = ? AND session = ?)) ON CONFLICT DO NOTHING`,
  hasParticipant: `SELECT 1 AS found FROM participants WHERE tenant = ? AND session = ? AND actor = ?`,
  clearParticipants: `DELETE FROM participants WHERE tenant = ? AND session = ?`,
});

export function createSession(db: SqliteConnection, name: string, session: NewSession): Session {
  const tenant = ensureTenant(db, name, session.now);
  const earlier = replayed(db, tenant, 0, session.idempotency);
  if (earlier !== undefined) return getSession(db, name, earlier.ids[0] ?? "");
  const { key } = session.origin;
  if (session.orExisting === true && key !== undefined) {
    const existing = findSessionByOrigin(db, name, key);
    if (existing !== undefined) return existing;
  }
  const number = insertSession(db, tenant, session);
  storeResult(db, tenant, 0, session.idempotency, { ids: [session.id] }, session.now);
  writeFeed(db, tenant, [sessionCreated(session.id, session.now)], { sessions: 1 }, number);
  return getSession(db, name, session.id);
}

/** Writes the rows of a new session and gives its number; the caller writes the feed. */
export function insertSession(
  db: SqliteConnection,
  tenant: number,
  session: NewSession,
  fork: ForkOrigin | undefined = session.fork,
): number {
  const { origin } = session;
  if (db.get(SQL.takenId, tenant, session.id) !== undefined) {
    throw sessionExists("id", session.id);
  }
  if (origin.key !== undefined && db.get(SQL.findByOrigin, tenant, origin.key) !== undefined) {
    throw sessionExists("origin key", origin.key);
  }
  const number = nextSessionNumber(db, tenant);
  const ownId = ownIdOf(origin);
  const candidates = shortIdCandidates(session.id, ownId);
  const alike = db.all(SQL.shortIds, tenant, JSON.stringify(candidates));
  const taken = new Set(alike.map((row) => String(row["short_id"])));
  db.run(
    SQL.insertSession,
    tenant,
    number,
    ...newSessionValues(session, fork, chooseShortId(candidates, taken)),
  );
  db.run(SQL.insertState, tenant, number, session.startedAt, session.startedAt, session.now);
  addParticipants(db, tenant, number, session.participants);
  return number;
}

export function updateSession(
  db: SqliteConnection,
  name: string,
  id: string,
  patch: SessionPatch,
  now: number,
): Session {
  const session = getSession(db, name, id);
  const tenant = ensureTenant(db, name, now);
  const number = sessionNumber(db, tenant, id);
  const key = patch.origin?.key;
  const isNewKey = key !== undefined && key !== session.origin.key;
  if (isNewKey && db.get(SQL.findByOrigin, tenant, key) !== undefined) {
    throw sessionExists("origin key", key);
  }
  db.run(SQL.updateSession, tenant, number, ...changedValues(session, patch));
  if (patch.participants !== undefined) {
    db.run(SQL.clearParticipants, tenant, number);
    addParticipants(db, tenant, number, patch.participants);
  }
  db.run(SQL.touch, now, tenant, number);
  writeFeed(db, tenant, [sessionUpdated(id, patch, now)]);
  return getSession(db, name, id);
}

/** An existing participant keeps its position. */
export function addParticipants(
  db: SqliteConnection,
  tenant: number,
  session: number,
  actors: readonly string[],
): void {
  for (const actor of actors) {
    if (db.cache.isParticipant(tenant, session, actor)) continue;
    if (db.get(SQL.hasParticipant, tenant, session, actor) === undefined) {
      db.run(SQL.addParticipant, tenant, session, actor, tenant, session);
    }
    db.cache.keepParticipant(tenant, session, actor);
  }
}

export function sessionNumber(
  db: SqliteConnection,
  tenant: number | undefined,
  id: string,
): number {
  const row = tenant === undefined ? undefined : db.get(SQL.numberById, tenant, id);
  if (row === undefined) throw sessionNotFound(id);
  return Number(row["session"]);
}

export function getSession(db: SqliteConnection, name: string, id: string): Session {
  const session = findSession(db, name, id);
  if (session === undefined) throw sessionNotFound(id);
  return session;
}

export function findSession(db: SqliteConnection, name: string, id: string): Session | undefined {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return undefined;
  return toSessions(db, name, tenant, db.all(SQL.findById, tenant, id))[0];
}

export function findSessionByOrigin(
  db: SqliteConnection,
  name: string,
  key: string,
): Session | undefined {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return undefined;
  return toSessions(db, name, tenant, db.all(SQL.findByOrigin, tenant, key))[0];
}

/** The sessions that `ref` names, or whose ids have it as a prefix: see `namedRefs`. */
export function findSessionRefs(db: SqliteConnection, name: string, ref: string): SessionRef[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.findRefs, tenant, ...refRange(ref), MAX_REFS).map(toSessionRef);
}

export function readSessionSizes(
  db: SqliteConnection,
  name: string,
  ids: readonly string[],
): SessionSize[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.sizes, tenant, JSON.stringify(ids)).map(toSessionSize);
}

export function readUsage(db: SqliteConnection, name: string, ids: readonly string[]): UsageSum[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.usage, tenant, JSON.stringify(ids)).map(toUsageSum);
}

export function countModels(
  db: SqliteConnection,
  name: string,
  ids: readonly string[],
): ModelCount[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.models, tenant, JSON.stringify(ids)).map(toModelCount);
}

export function toSessions(
  db: SqliteConnection,
  name: string,
  tenant: number,
  rows: SqlRow[],
): Session[] {
  if (rows.length === 0) return [];
  const participants = new Map<number, string[]>();
  for (const row of rows) participants.set(Number(row["session"]), []);
  const numbers = JSON.stringify([...participants.keys()]);
  for (const row of db.all(SQL.listParticipants, tenant, numbers)) {
    participants.get(Number(row["session"]))?.push(String(row["actor"]));
  }
  return rows.map((row) => toSession(name, row, participants.get(Number(row["session"])) ?? []));
}
