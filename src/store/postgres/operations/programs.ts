/** The statements of programs in PostgreSQL, and the port through which programs run them. */

import { REMOVED_KEY } from "../../../model/session.ts";
import { sessionCreated } from "../../plan/new-changes.ts";
import * as ingestedFiles from "../../program/ingested-files.ts";
import * as notes from "../../program/notes.ts";
import {
  answer,
  type Call,
  type Program,
  type ProgramPort,
  type Programs,
  runAwaited,
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
import { sessionNotFound } from "../../store-errors.ts";
import { type Query, query, type Scalar } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { ensureTenant, writeFeed } from "./feed.ts";
import { lockSession, stateQuery, toState } from "./session-state.ts";
import { claimSession, insertSession } from "./sessions.ts";

/** In the order of the requested places. */
const AT = `FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS wanted (namespace, key, rank)
    JOIN records r ON r.tenant = $1 AND r.namespace = wanted.namespace AND r.key = wanted.key
    ORDER BY wanted.rank`;

/** The originals of session $2 of tenant $1. */
const OF_SESSION = `(workstation, path) IN (SELECT l.workstation, l.path FROM original_sessions l
    WHERE l.tenant = $1 AND l.session = $2)`;

/** A page of originals: its five parameters begin with number `first`. */
const pageFrom = (first: number): string => {
  const [workstation, path, afterWorkstation, afterPath, limit] = [0, 1, 2, 3, 4].map(
    (i) => `$${first + i}`,
  );
  return `(${workstation}::text IS NULL OR o.workstation = ${workstation})
      AND (${path}::text IS NULL OR o.path = ${path}) AND (${afterWorkstation}::text IS NULL
        OR (o.workstation, o.path) > (${afterWorkstation}, ${afterPath}::text))
    ORDER BY o.workstation, o.path LIMIT ${limit}`;
};

const TOKENS = statements("tokens", {
  create: `INSERT INTO access_tokens (tenant, id, secret_hash, scope, actor, act_as, operator, label,
      created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  revoke: `UPDATE access_tokens SET revoked_at = $3
    WHERE tenant = $1 AND id = $2 AND revoked_at IS NULL RETURNING id`,
  read: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = $1 AND k.id = $2`,
  list: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = $1 AND k.id > $2
    ORDER BY k.id LIMIT $3`,
  /** Lets row-level security show this one token, of any tenant, in this transaction. */
  name: `SELECT set_config('backscroll.token', $1, true)`,
  find: `SELECT ${TOKEN_COLUMNS}, k.secret_hash, n.name AS tenant_name FROM access_tokens k
    JOIN tenants n ON n.tenant = k.tenant WHERE k.id = $1`,
});

const ROUTES = statements("routes", {
  find: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = $1 AND r.key = $2`,
  /** There may be no row to lock yet, so writers of one key take an advisory lock on its name. */
  lock: `SELECT pg_advisory_xact_lock(hashtextextended($1::text || ':' || $2, 0)) IS NULL AS locked`,
  list: `SELECT ${ROUTE_COLUMNS} FROM routes r WHERE r.tenant = $1 AND r.key > $2
    ORDER BY r.key LIMIT $3`,
  put: `INSERT INTO routes (tenant, key, session_id, version, created_at, updated_at, fields)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, key) DO UPDATE SET
      session_id = excluded.session_id, version = excluded.version,
      updated_at = excluded.updated_at, fields = excluded.fields`,
  addSession: `INSERT INTO route_sessions (tenant, key, version, session_id, since, reason)
    VALUES ($1, $2, $3, $4, $5, $6)`,
  delete: `DELETE FROM routes WHERE tenant = $1 AND key = $2`,
  deleteSessions: `DELETE FROM route_sessions WHERE tenant = $1 AND key = $2`,
  listSessions: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = $1 AND h.key = $2 AND h.version < $3 ORDER BY h.version DESC LIMIT $4`,
  ofSession: `SELECT ${ROUTE_SESSION_COLUMNS} FROM route_sessions h
    WHERE h.tenant = $1 AND h.session_id = $2 ORDER BY h.since DESC, h.key LIMIT $3`,
});

const NOTES = statements("notes", {
  putMemory: `INSERT INTO memories AS m
      (tenant, agent, name, content, metadata, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (tenant, agent, name) DO UPDATE SET
      content = excluded.content, metadata = excluded.metadata,
      updated_at = greatest(m.updated_at, excluded.updated_at)
    RETURNING agent, name, content, metadata, created_at, updated_at`,
  findMemory: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND agent = $2 AND name = $3`,
  deleteMemory: `DELETE FROM memories WHERE tenant = $1 AND agent = $2 AND name = $3
    RETURNING name`,
  listMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND (agent, name) > ($2, $3) ORDER BY agent, name LIMIT $4`,
  listAgentMemories: `SELECT agent, name, content, metadata, created_at, updated_at FROM memories
    WHERE tenant = $1 AND agent = $2 AND name > $3 ORDER BY name LIMIT $4`,
  addFacts: `INSERT INTO facts (tenant, session, id, subject, predicate, object, source_entry_id,
      confidence, created_at)
    SELECT $1::bigint, $2::bigint, added.* FROM unnest($3::text[], $4::text[], $5::text[],
      $6::text[], $7::text[], $8::double precision[], $9::bigint[]) AS added`,
  findFact: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id = $2`,
  /** Locks in id order, to avoid deadlocks. */
  lockFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id = ANY ($2) ORDER BY f.id FOR UPDATE OF f`,
  listFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND f.id > $2 AND ($3::int = 1 OR f.superseded_by IS NULL)
    ORDER BY f.id LIMIT $4`,
  listSessionFacts: `SELECT ${FACT_COLUMNS} FROM facts f
    JOIN sessions s ON s.tenant = f.tenant AND s.session = f.session
    WHERE f.tenant = $1 AND s.id = $2 AND f.id > $3
      AND ($4::int = 1 OR f.superseded_by IS NULL)
    ORDER BY f.id LIMIT $5`,
  supersedeFact: `UPDATE facts SET superseded_by = $3 WHERE tenant = $1 AND id = $2`,
  deleteFact: `DELETE FROM facts WHERE tenant = $1 AND id = $2`,
});

const RECORDS = statements("records", {
  /**
   * Every write of records locks the tenant's row first: a record may have no row to lock yet, and
   * the feed takes this lock anyway. A transaction that locks a session never waits for a record.
   */
  lockTenant: `SELECT tenant FROM tenants WHERE tenant = $1 FOR UPDATE`,
  info: `SELECT ${PART_COLUMNS.info} ${AT}`,
  text: `SELECT ${PART_COLUMNS.text} ${AT}`,
  all: `SELECT ${PART_COLUMNS.all} ${AT}`,
  page: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = $1 AND r.namespace = $2
      AND r.key > $3 AND r.key >= $4 AND ($5::text IS NULL OR r.key < $5::text)
      AND (r.expires_at IS NULL OR r.expires_at > $6)
    ORDER BY r.key LIMIT $7`,
  pageValues: `SELECT ${PART_COLUMNS.all} FROM records r WHERE r.tenant = $1 AND r.namespace = $2
      AND r.key BETWEEN $3 AND $4 AND (r.expires_at IS NULL OR r.expires_at > $5)
    ORDER BY r.key`,
  everything: `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.tenant = $1
      AND (r.namespace, r.key) > ($2, $3) AND (r.expires_at IS NULL OR r.expires_at > $4)
    ORDER BY r.namespace, r.key LIMIT $5`,
  put: `INSERT INTO records (tenant, namespace, key, version, is_json, size, hash, expires_at,
      created_at, updated_at, text, value)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (tenant, namespace, key) DO UPDATE SET version = excluded.version,
      is_json = excluded.is_json, size = excluded.size, hash = excluded.hash,
      expires_at = excluded.expires_at, created_at = excluded.created_at,
      updated_at = excluded.updated_at, text = excluded.text, value = excluded.value`,
  delete: `DELETE FROM records r USING unnest($2::text[], $3::text[]) AS gone (namespace, key)
    WHERE r.tenant = $1 AND r.namespace = gone.namespace AND r.key = gone.key`,
  expired: `SELECT ${RECORD_COLUMNS} FROM records r
    WHERE r.tenant = $1 AND r.expires_at IS NOT NULL AND r.expires_at <= $2
    ORDER BY r.expires_at LIMIT $3`,
});

const INGESTED_FILES = statements("ingested_files", {
  find: `SELECT ${INGESTED_FILE_COLUMNS} FROM ingested_files
    WHERE tenant = $1 AND workstation = $2 AND path = ANY ($3::text[])`,
  findFacts: `SELECT ${INGESTED_FILE_FACTS} FROM ingested_files
    WHERE tenant = $1 AND workstation = $2 AND path = ANY ($3::text[])`,
  putFiles: `INSERT INTO ingested_files (tenant, workstation, path, source, size, mtime, read_offset,
      read_lines, tail_hash, state, seen_at)
    SELECT $1::bigint, $2::text, put.* FROM unnest($3::text[], $4::text[], $5::bigint[],
      $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[], $11::bigint[]) AS put
    ON CONFLICT (tenant, workstation, path) DO UPDATE SET source = excluded.source,
      size = excluded.size, mtime = excluded.mtime, read_offset = excluded.read_offset,
      read_lines = excluded.read_lines, tail_hash = excluded.tail_hash, state = excluded.state,
      seen_at = excluded.seen_at`,
  /** Locked against a deletion, which locks the session's state. */
  lockSessions: `SELECT s.id, s.session, s.retention,
      (position('"${REMOVED_KEY}":'::bytea IN s.metadata) > 0)::int AS has_removed FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = ANY ($2::text[]) ORDER BY s.session FOR SHARE OF t`,
  findSession: `SELECT s.session FROM sessions s
    WHERE s.tenant = $1 AND s.id = $2 AND ${IS_THERE}`,
  put: `INSERT INTO originals (tenant, workstation, path, source, reader, size, mtime)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant, workstation, path) DO UPDATE SET
      source = excluded.source, reader = excluded.reader, size = excluded.size,
      mtime = excluded.mtime`,
  dropParts: `DELETE FROM original_parts
    WHERE tenant = $1 AND workstation = $2 AND path = $3 AND start >= $4`,
  putPart: `INSERT INTO original_parts (tenant, workstation, path, start, size, bytes)
    VALUES ($1, $2, $3, $4, $5, $6)`,
  putSession: `INSERT INTO original_sessions (tenant, session, workstation, path)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
  list: `SELECT ${ORIGINAL_COLUMNS} FROM originals o WHERE o.tenant = $1 AND ${pageFrom(2)}`,
  listOfSession: `SELECT ${ORIGINAL_COLUMNS} FROM original_sessions l
    JOIN originals o ON o.tenant = l.tenant AND o.workstation = l.workstation AND o.path = l.path
    WHERE l.tenant = $1 AND l.session = $2::bigint AND ${pageFrom(3)}`,
  parts: `SELECT start, size FROM original_parts
    WHERE tenant = $1 AND workstation = $2 AND path = $3 ORDER BY start`,
  sessions: `SELECT s.id FROM original_sessions l
    JOIN sessions s ON s.tenant = l.tenant AND s.session = l.session
    WHERE l.tenant = $1 AND l.workstation = $2 AND l.path = $3 ORDER BY s.id`,
  part: `SELECT bytes FROM original_parts
    WHERE tenant = $1 AND workstation = $2 AND path = $3 AND start = $4`,
  forgetParts: `DELETE FROM original_parts WHERE tenant = $1 AND ${OF_SESSION}`,
  forgetOriginals: `DELETE FROM originals WHERE tenant = $1 AND ${OF_SESSION}`,
  unlink: `DELETE FROM original_sessions WHERE tenant = $1 AND session = $2`,
  forgetSessions: `DELETE FROM original_sessions WHERE tenant = $1 AND ${OF_SESSION}`,
});

/** The operations of programs: as functions of a transaction. */
type Operations<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends (
    port: never,
    ...args: infer Args
  ) => Program<infer Result>
    ? (tx: Transaction, ...args: Args) => Promise<Result>
    : never;
};

export const PROGRAMS: Operations<typeof tokens & typeof routes & typeof notes> &
  Operations<typeof records & typeof ingestedFiles> = {
  ...operations(tokens, TOKENS),
  ...operations(routes, ROUTES),
  ...operations(notes, NOTES),
  ...operations(records, RECORDS),
  ...operations(ingestedFiles, INGESTED_FILES),
};

function operations<Name extends string, Group extends object>(
  group: Group & Programs<Name>,
  sql: Readonly<Record<Name, string>>,
): Operations<Group> {
  const all = Object.entries(group as Programs<Name>).map(([name, program]) => {
    const run = (tx: Transaction, ...args: readonly unknown[]) =>
      runAwaited(program(portOf(tx, sql), ...(args as never)));
    return [name, run];
  });
  return Object.fromEntries(all);
}

function portOf<Name extends string>(
  tx: Transaction,
  sql: Readonly<Record<Name, string>>,
): ProgramPort<Name> {
  const toQuery = ([statement, ...values]: Call<Name>): Query =>
    query(sql[statement], tx.tenant, ...values);
  const together = (queries: readonly Query[]) => answer(tx.together(queries));
  return {
    tenant: tx.name,
    ensureTenant: (now) => answer(ensureTenant(tx, now)),
    *rows(...call) {
      const [rows = []] = yield* together([toQuery(call)]);
      return rows;
    },
    together: (...calls) => together(calls.map(toQuery)),
    *rowsAt(statement, places, ...before) {
      if (places.length === 0 && before.length === 0) return [];
      const wanted = query(sql[statement], tx.tenant, ...columnsOf(places));
      const answers = yield* together([...before.map(toQuery), wanted]);
      return answers.at(-1) ?? [];
    },
    *rowsOfSession(sessionId, statement, ...values) {
      const wanted = toQuery([statement, sessionId, ...values]);
      const [state, rows = []] = yield* together([stateQuery(tx, sessionId), wanted]);
      toState(state, sessionId);
      return rows;
    },
    run: (statement, ...values) => tx.defer(sql[statement], tx.tenant, ...values),
    runEach: (statement, common, rows) =>
      tx.defer(sql[statement], tx.tenant, ...common, ...columnsOf(rows)),
    *last(...call) {
      const [rows = []] = yield* answer(tx.commit([toQuery(call)]));
      return rows;
    },
    writeFeed: (changes, delta) => writeFeed(tx, changes, delta),
    *lockSession(sessionId) {
      return (yield* answer(lockSession(tx, sessionId))).number;
    },
    *sessionNumber(sessionId) {
      const find = query(INGESTED_FILES.findSession, tx.tenant, sessionId);
      const [[row] = []] = yield* together([find]);
      if (row === undefined) throw sessionNotFound(sessionId);
      return Number(row["session"]);
    },
    *createSession(session) {
      const claim = yield* answer(claimSession(tx, session));
      if (!("number" in claim)) return [];
      insertSession(tx, claim, session);
      return [sessionCreated(session.id, session.now)];
    },
  };
}

/** Several rows as one array parameter for each of their columns. */
function columnsOf(rows: readonly (readonly Value[])[]): (readonly Scalar[])[] {
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] as Scalar));
}

/** `tx` has no tenant: the token identifies it. */
export async function findToken(tx: Transaction, id: string): Promise<TokenRecord | undefined> {
  tx.defer(TOKENS.name, id);
  return toTokenRecord(await tx.get(TOKENS.find, id));
}

/** The query for expired records. */
export function expiredRecordsQuery(tx: Transaction, now: number, limit: number): Query {
  return query(RECORDS.expired, tx.tenant, now, limit);
}

export function dropOriginals(tx: Transaction, session: number): void {
  for (const statement of DROP_ORIGINALS) tx.defer(INGESTED_FILES[statement], tx.tenant, session);
}

/** The bytes stay for a later import of the session. */
export function unlinkOriginals(tx: Transaction, session: number): void {
  tx.defer(INGESTED_FILES.unlink, tx.tenant, session);
}
