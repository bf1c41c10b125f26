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
  INGESTED_FILES_SQL,
  NOTES_SQL,
  ORIGINAL_COLUMNS,
  RECORDS_SQL,
  ROUTES_SQL,
  TOKENS_SQL,
  toTokenRecord,
} from "../../program/tables.ts";
import * as tokens from "../../program/tokens.ts";
import { PART_COLUMNS } from "../../record/record-row.ts";
import type { TokenRecord } from "../../requests.ts";
import { IS_THERE } from "../../rows/deleted-session.ts";
import { FACT_COLUMNS } from "../../rows/note-row.ts";
import type { SqliteConnection, SqlRow, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant, writeFeed } from "./feed.ts";
import { createSession, sessionNumber } from "./sessions.ts";

const AT = "FROM records r WHERE r.tenant = ? AND r.namespace = ? AND r.key = ?";

/** The text of common statements: PostgreSQL needs the types of some parameters. */
function inSqlite<Name extends string>(
  sql: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> {
  const texts = Object.entries<string>(sql).map(([name, text]) => {
    return [name, text.replaceAll("$", "?").replace(/::(text|bigint|int)\b/g, "")];
  });
  return Object.fromEntries(texts);
}

const TOKENS = statements("tokens", inSqlite(TOKENS_SQL));

const ROUTES = statements("routes", inSqlite(ROUTES_SQL));

const NOTES = statements("notes", {
  ...inSqlite(NOTES_SQL),
  putMemory: `INSERT INTO memories (tenant, agent, name, content, metadata, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (tenant, agent, name) DO UPDATE SET
      content = excluded.content, metadata = excluded.metadata,
      updated_at = max(updated_at, excluded.updated_at)
    RETURNING agent, name, content, metadata, created_at, updated_at`,
  addFacts: `INSERT INTO facts (tenant, session, id, subject, predicate, object, source_entry_id,
      confidence, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
});

const RECORDS = statements("records", {
  ...inSqlite(RECORDS_SQL),
  info: `SELECT ${PART_COLUMNS.info} ${AT}`,
  text: `SELECT ${PART_COLUMNS.text} ${AT}`,
  all: `SELECT ${PART_COLUMNS.all} ${AT}`,
  delete: `DELETE FROM records WHERE tenant = ? AND namespace = ? AND key = ?`,
});

const INGESTED_FILES = statements("ingested_files", {
  ...inSqlite(INGESTED_FILES_SQL),
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
