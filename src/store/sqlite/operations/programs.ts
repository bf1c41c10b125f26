/** The statements of programs in SQLite, and the port through which programs run them. */

import { REMOVED_KEY } from "../../../model/session.ts";
import * as ingestedFiles from "../../program/ingested-files.ts";
import * as notes from "../../program/notes.ts";
import {
  answer,
  type Call,
  type Program,
  type ProgramPort,
  type Programs,
  runNow,
  type Value,
} from "../../program/port.ts";
import * as records from "../../program/records.ts";
import * as routes from "../../program/routes.ts";
import {
  DROP_ORIGINALS,
  INGESTED_FILE_COLUMNS,
  INGESTED_FILE_FACTS,
  ORIGINAL_COLUMNS,
  ROUTE_COLUMNS,
  ROUTE_SESSION_COLUMNS,
  TOKEN_COLUMNS,
  toTokenRecord,
} from "../../program/rows.ts";
import * as tokens from "../../program/tokens.ts";
import { PART_COLUMNS, RECORD_COLUMNS } from "../../record/record-row.ts";
import type { TokenRecord } from "../../requests.ts";
import { IS_THERE } from "../../rows/deleted-session.ts";
import { FACT_COLUMNS } from "../../rows/note-row.ts";
import type { SqliteConnection, SqlRow, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant, writeFeed } from "./feed.ts";
import { createSession, sessionNumber } from "./sessions.ts";

const AT = "FROM records r WHERE r.tenant = ? AND r.namespace = ? AND r.key = ?";

/** The originals of session ?2 of tenant ?1. */
const OF_SESSION = `(workstation, path) IN (SELECT workstation, path FROM original_sessions
    WHERE tenant = ?1 AND session = ?2)`;

const TOKENS = statements("tokens", {
  create: `INSERT INTO access_tokens (tenant, id, secret_hash, scope, actor, act_as, operator, label,
      created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  revoke: `UPDATE access_tokens SET revoked_at = ?3
    WHERE tenant = ?1 AND id = ?2 AND revoked_at IS NULL RETURNING id`,
  read: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = ? AND k.id = ?`,
  list: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = ? AND k.id > ?
    ORDER BY k.id LIMIT ?`,
  find: `SELECT ${TOKEN_COLUMNS}, k.secret_hash, n.name AS tenant_name FROM access_tokens k
    JOIN tenants n ON n.tenant = k.tenant WHERE k.id = ?`,
});

const ROUTES = statements("routes", {
  find: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = ? AND r.key = ?`,
  list: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = ? AND r.key > ?
    ORDER BY r.key LIMIT ?`,
  put: `INSERT INTO routes (tenant, key, session_id, version, created_at, updated_at, fields)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) DO UPDATE SET
      session_id = excluded.session_id, version = excluded.version,
      updated_at = excluded.updated_at, fields = excluded.fields`,
  addSession: `INSERT INTO route_sessions (tenant, key, version, session_id, since, reason)
    VALUES (?, ?, ?, ?, ?, ?)`,
  delete: `DELETE FROM routes WHERE tenant = ? AND key = ?`,
  deleteSessions: `DELETE FROM route_sessions WHERE tenant = ? AND key = ?`,
  listSessions: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = ? AND h.key = ? AND h.version < ? ORDER BY h.version DESC LIMIT ?`,
  ofSession: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = ? AND h.session_id = ? ORDER BY h.since DESC, h.key LIMIT ?`,
});

const NOTES = statements("notes", {
  putMemory: `INSERT INTO memories (tenant, agent, name, content, metadata, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (tenant, agent, name) DO UPDATE SET
      content = excluded.content, metadata = excluded.metadata,
      updated_at = max(updated_at, excluded.updated_at)
    RETURNING agent, name, content, metadata, created_at, updated_at`,
  findMemory: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND agent = ? AND name = ?`,
  deleteMemory: `DELETE FROM memories WHERE tenant = ? AND agent = ? AND name = ?
    RETURNING name`,
  listMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND (agent, name) > (?, ?) ORDER BY agent, name LIMIT ?`,
  listAgentMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = ? AND agent = ? AND name > ? ORDER BY name LIMIT ?`,
  addFacts: `INSERT INTO facts (tenant, session, id, subject, predicate, object, source_entry_id,
      confidence, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  findFact: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.id = ?`,
  lockFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.id IN (SELECT value FROM json_each(?))`,
  listFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.id > ? AND (? OR f.superseded_by IS NULL) ORDER BY f.id LIMIT ?`,
  listSessionFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = ? AND f.session = ? AND f.id > ? AND (? OR f.superseded_by IS NULL)
    ORDER BY f.id LIMIT ?`,
  supersedeFact: `UPDATE facts SET superseded_by = ?3 WHERE tenant = ?1 AND id = ?2`,
  deleteFact: `DELETE FROM facts WHERE tenant = ? AND id = ?`,
});

const RECORDS = statements("records", {
  info: `SELECT ${PART_COLUMNS.info} ${AT}`,
  text: `SELECT ${PART_COLUMNS.text} ${AT}`,
  all: `SELECT ${PART_COLUMNS.all} ${AT}`,
  page: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = ?1 AND r.namespace = ?2
      AND r.key > ?3 AND r.key >= ?4 AND (?5 IS NULL OR r.key < ?5)
      AND (r.expires_at IS NULL OR r.expires_at > ?6)
    ORDER BY r.key LIMIT ?7`,
  pageValues: `SELECT ${PART_COLUMNS.all} FROM records r WHERE r.tenant = ? AND r.namespace = ?
      AND r.key BETWEEN ? AND ? AND (r.expires_at IS NULL OR r.expires_at > ?)
    ORDER BY r.key`,
  everything: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = ?1
      AND (r.namespace, r.key) > (?2, ?3) AND (r.expires_at IS NULL OR r.expires_at > ?4)
    ORDER BY r.namespace, r.key LIMIT ?5`,
  put: `INSERT INTO records (tenant, namespace, key, version, is_json, size, hash, expires_at,
      created_at, updated_at, text, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, namespace, key) DO UPDATE SET version = excluded.version,
      is_json = excluded.is_json, size = excluded.size, hash = excluded.hash,
      expires_at = excluded.expires_at, created_at = excluded.created_at,
      updated_at = excluded.updated_at, text = excluded.text, value = excluded.value`,
  delete: `DELETE FROM records WHERE tenant = ? AND namespace = ? AND key = ?`,
  expired: `SELECT ${RECORD_COLUMNS} FROM records r
    WHERE r.tenant = ? AND r.expires_at IS NOT NULL AND r.expires_at <= ?
    ORDER BY r.expires_at LIMIT ?`,
});

const INGESTED_FILES = statements("ingested_files", {
  find: `SELECT ${INGESTED_FILE_COLUMNS} FROM ingested_files
    WHERE tenant = ? AND workstation = ? AND path IN (SELECT value FROM json_each(?))`,
  findFacts: `SELECT ${INGESTED_FILE_FACTS} FROM ingested_files
    WHERE tenant = ? AND workstation = ? AND path IN (SELECT value FROM json_each(?))`,
  putFiles: `INSERT INTO ingested_files (tenant, workstation, path, source, size, mtime, read_offset,
      read_lines, tail_hash, state, seen_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, workstation, path) DO UPDATE SET source = excluded.source,
      size = excluded.size, mtime = excluded.mtime, read_offset = excluded.read_offset,
      read_lines = excluded.read_lines, tail_hash = excluded.tail_hash, state = excluded.state,
      seen_at = excluded.seen_at`,
  lockSessions: `SELECT s.id, s.session, s.retention,
      instr(CAST(s.metadata AS TEXT), '"${REMOVED_KEY}":') > 0 AS has_removed FROM sessions s
    WHERE s.tenant = ? AND s.id IN (SELECT value FROM json_each(?)) AND ${IS_THERE}
    ORDER BY s.session`,
  put: `INSERT INTO originals (tenant, workstation, path, source, reader, size, mtime)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, workstation, path) DO UPDATE SET
      source = excluded.source, reader = excluded.reader, size = excluded.size,
      mtime = excluded.mtime`,
  dropParts: `DELETE FROM original_parts
    WHERE tenant = ? AND workstation = ? AND path = ? AND start >= ?`,
  putPart: `INSERT INTO original_parts (tenant, workstation, path, start, size, bytes)
    VALUES (?, ?, ?, ?, ?, ?)`,
  putSession: `INSERT INTO original_sessions (tenant, session, workstation, path)
    VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  list: `SELECT ${ORIGINAL_COLUMNS} FROM originals o WHERE o.tenant = ?1
      AND (?2 IS NULL OR o.workstation = ?2) AND (?3 IS NULL OR o.path = ?3)
      AND (?4 IS NULL OR (o.workstation, o.path) > (?4, ?5))
    ORDER BY o.workstation, o.path LIMIT ?6`,
  listOfSession: `SELECT ${ORIGINAL_COLUMNS} FROM original_sessions l
    JOIN originals o ON o.tenant = l.tenant AND o.workstation = l.workstation AND o.path = l.path
    WHERE l.tenant = ?1 AND l.session = ?2
      AND (?3 IS NULL OR o.workstation = ?3) AND (?4 IS NULL OR o.path = ?4)
      AND (?5 IS NULL OR (o.workstation, o.path) > (?5, ?6))
    ORDER BY o.workstation, o.path LIMIT ?7`,
  parts: `SELECT start, size FROM original_parts
    WHERE tenant = ? AND workstation = ? AND path = ? ORDER BY start`,
  sessions: `SELECT s.id FROM original_sessions l
    JOIN sessions s ON s.tenant = l.tenant AND s.session = l.session
    WHERE l.tenant = ? AND l.workstation = ? AND l.path = ? ORDER BY s.id`,
  part: `SELECT bytes FROM original_parts
    WHERE tenant = ? AND workstation = ? AND path = ? AND start = ?`,
  forgetParts: `DELETE FROM original_parts WHERE tenant = ?1 AND ${OF_SESSION}`,
  forgetOriginals: `DELETE FROM originals WHERE tenant = ?1 AND ${OF_SESSION}`,
  unlink: `DELETE FROM original_sessions WHERE tenant = ? AND session = ?`,
  forgetSessions: `DELETE FROM original_sessions WHERE tenant = ?1 AND ${OF_SESSION}`,
});

/** Writers wait for the whole file: nothing is locked one by one. */
const NO_LOCK = { lock: null, lockTenant: null } as const;

/** The operations of programs: as functions of a connection and the tenant's name. */
type Operations<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends (
    port: never,
    ...args: infer Args
  ) => Program<infer Result>
    ? (db: SqliteConnection, tenant: string, ...args: Args) => Result
    : never;
};

export const PROGRAMS: Operations<typeof tokens & typeof routes & typeof notes> &
  Operations<typeof records & typeof ingestedFiles> = {
  ...operations(tokens, TOKENS),
  ...operations(routes, { ...ROUTES, ...NO_LOCK }),
  ...operations(notes, NOTES),
  ...operations(records, { ...RECORDS, ...NO_LOCK }),
  ...operations(ingestedFiles, INGESTED_FILES),
};

function operations<Name extends string, Group extends object>(
  group: Group & Programs<Name>,
  sql: Readonly<Record<Name, string | null>>,
): Operations<Group> {
  const all = Object.entries(group as Programs<Name>).map(([name, program]) => {
    const run = (db: SqliteConnection, tenant: string, ...args: readonly unknown[]) =>
      runNow(program(portOf(db, tenant, sql), ...(args as never)));
    return [name, run];
  });
  return Object.fromEntries(all);
}

function portOf<Name extends string>(
  db: SqliteConnection,
  name: string,
  sql: Readonly<Record<Name, string | null>>,
): ProgramPort<Name> {
  // No row has this number: a tenant without rows reads nothing.
  let tenant = findTenant(db, name) ?? 0;
  const toParameter = (value: Value): SqlValue =>
    Array.isArray(value) ? JSON.stringify(value) : (value as SqlValue);
  const rows = ([statement, ...values]: Call<Name>): SqlRow[] => {
    const text = sql[statement];
    return text === null ? [] : db.all(text, tenant, ...values.map(toParameter));
  };
  const run = ([statement, ...values]: Call<Name>) => {
    db.run(sql[statement] as string, tenant, ...values.map(toParameter));
  };
  return {
    tenant: name,
    ensureTenant(now) {
      tenant = ensureTenant(db, name, now);
      return answer(undefined);
    },
    rows: (...call) => answer(rows(call)),
    together: (...calls) => answer(calls.map(rows)),
    rowsAt: (statement, places, ...before) => {
      before.forEach(rows);
      return answer(places.flatMap((place) => rows([statement, ...place])));
    },
    rowsOfSession: (sessionId, statement, ...values) =>
      answer(rows([statement, sessionNumber(db, tenant, sessionId), ...values])),
    run: (...call) => run(call),
    runEach: (statement, common, each) => {
      for (const values of each) run([statement, ...common, ...values]);
    },
    last: (...call) => answer(rows(call)),
    writeFeed: (changes, delta) => writeFeed(db, tenant, changes, delta),
    lockSession: (sessionId) => answer(sessionNumber(db, tenant, sessionId)),
    sessionNumber: (sessionId) => answer(sessionNumber(db, tenant, sessionId)),
    createSession: (session) => {
      createSession(db, name, session);
      return answer([]);
    },
  };
}

export function findToken(db: SqliteConnection, id: string): TokenRecord | undefined {
  return toTokenRecord(db.get(TOKENS.find, id));
}

export function dropOriginals(db: SqliteConnection, tenant: number, session: number): void {
  for (const statement of DROP_ORIGINALS) db.run(INGESTED_FILES[statement], tenant, session);
}

/** The bytes stay for a later import of the session. */
export function unlinkOriginals(db: SqliteConnection, tenant: number, session: number): void {
  db.run(INGESTED_FILES.unlink, tenant, session);
}
