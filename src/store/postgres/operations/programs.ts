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
  ...TOKENS_SQL,
  /** Lets row-level security show this one token, of any tenant, in this transaction. */
  name: `SELECT set_config('backscroll.token', $1, true)`,
});

const ROUTES = statements("routes", {
  ...ROUTES_SQL,
  /** There may be no row to lock yet, so writers of one key take an advisory lock on its name. */
  lock: `SELECT pg_advisory_xact_lock(hashtextextended($1::text || ':' || $2, 0)) IS NULL AS locked`,
});

const NOTES = statements("notes", {
  ...NOTES_SQL,
  putMemory: `INSERT INTO memories AS m
      (tenant, agent, name, content, metadata, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (tenant, agent, name) DO UPDATE SET
      content = excluded.content, metadata = excluded.metadata,
      updated_at = greatest(m.updated_at, excluded.updated_at)
    RETURNING agent, name, content, metadata, created_at, updated_at`,
  addFacts: `INSERT INTO facts (tenant, session, id, subject, predicate, object, source_entry_id,
      confidence, created_at)
    SELECT $1::bigint, $2::bigint, added.* FROM unnest($3::text[], $4::text[], $5::text[],
      $6::text[], $7::text[], $8::double precision[], $9::bigint[]) AS added`,
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
});

const RECORDS = statements("records", {
  ...RECORDS_SQL,
  info: `SELECT ${PART_COLUMNS.info} ${AT}`,
  text: `SELECT ${PART_COLUMNS.text} ${AT}`,
  all: `SELECT ${PART_COLUMNS.all} ${AT}`,
  /**
   * Every write of records locks the tenant's row first: a record may have no row to lock yet, and
   * the feed takes this lock anyway. A transaction that locks a session never waits for a record.
   */
  lockTenant: `SELECT tenant FROM tenants WHERE tenant = $1 FOR UPDATE`,
  delete: `DELETE FROM records r USING unnest($2::text[], $3::text[]) AS gone (namespace, key)
    WHERE r.tenant = $1 AND r.namespace = gone.namespace AND r.key = gone.key`,
});

const INGESTED_FILES = statements("ingested_files", {
  ...INGESTED_FILES_SQL,
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
  list: `SELECT ${ORIGINAL_COLUMNS} FROM originals o WHERE o.tenant = $1 AND ${pageFrom(2)}`,
  listOfSession: `SELECT ${ORIGINAL_COLUMNS} FROM original_sessions l
    JOIN originals o ON o.tenant = l.tenant AND o.workstation = l.workstation AND o.path = l.path
    WHERE l.tenant = $1 AND l.session = $2::bigint AND ${pageFrom(3)}`,
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
