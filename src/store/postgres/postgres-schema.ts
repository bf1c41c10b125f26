/** Brings a PostgreSQL database to the schema that this code knows, or refuses it. */

import { randomUUID } from "node:crypto";
import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  decodeSetting,
  encodeSetting,
  firstSetting,
  INDEXING_KEY,
  type IndexSetting,
  type StoredSetting,
  settled,
} from "../index/stored-indexing.ts";
import { checkSchema, type Migration, pendingMigrations, type SchemaState } from "../migration.ts";
import type { Row } from "../records.ts";
import { DERIVED_TABLES, INDEX_TABLES, PROCESS_TABLES, TABLES } from "../tables.ts";
import { type PostgresConnection, query } from "./postgres-driver.ts";
import { isTimeout } from "./postgres-errors.ts";
import { statements } from "./postgres-statements.ts";
import { POSTGRES_MIGRATIONS } from "./schema/index.ts";
import type { TransactionStart } from "./transaction.ts";

/**
 * "BkSc": the advisory lock of a store. Write transactions take it shared; migrations and loads
 * take it exclusive, so that no write spans two schemas.
 */
const STORE_LOCK = 0x426b5363;

const SQL = statements("schema", {
  shareLock: `SELECT pg_advisory_xact_lock_shared($1)`,
  takeLock: `SELECT pg_advisory_xact_lock($1)`,
  /** Reads the catalogue: inside a transaction `to_regclass` may return a stale null. */
  findTables: `SELECT c.relname AS name, EXISTS (SELECT 1 FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attname = 'min_writer')::int AS versions
    FROM pg_class c WHERE c.relname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND pg_table_is_visible(c.oid) ORDER BY c.relname`,
  readSchema: `SELECT version, min_reader, min_writer FROM schema ORDER BY version DESC LIMIT 1`,
  limitMigration: `SELECT set_config('lock_timeout', $1, true),
      set_config('statement_timeout', $2, true)`,
  claimVersion: `INSERT INTO schema (version, name, min_reader, min_writer, applied_at)
    VALUES ($1, $2, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`,
  setEpoch: `INSERT INTO store (key, value) VALUES ('epoch', $1)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  readEpoch: `SELECT value FROM store WHERE key = 'epoch'`,
  readSetting: `SELECT value FROM store WHERE key = '${INDEXING_KEY}'`,
  /** The first of several processes that open the store gives it its key. */
  settleSetting: `INSERT INTO store AS s (key, value) VALUES ('${INDEXING_KEY}', $1)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
      WHERE position('lineKey' IN s.value) = 0`,
  replaceSetting: `INSERT INTO store (key, value) VALUES ('${INDEXING_KEY}', $1)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
});

const BOOKKEEPING = `
CREATE TABLE schema (
  version bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  min_reader bigint NOT NULL,
  min_writer bigint NOT NULL,
  applied_at bigint NOT NULL
);
CREATE TABLE store (key text COLLATE "C" PRIMARY KEY, value text COLLATE "C" NOT NULL)`;

/** The start of a write transaction: excludes migrations, and checks the schema. */
export const WRITE_START: TransactionStart = {
  queries: [
    query("BEGIN ISOLATION LEVEL READ COMMITTED"),
    query(SQL.shareLock, STORE_LOCK),
    query(SQL.readSchema),
  ],
  check(answers) {
    checkSchema(toState(answers[2]?.rows[0]), POSTGRES_MIGRATIONS, "write");
  },
};

/** The start of a read: one snapshot. */
export const READ_START: TransactionStart = {
  queries: [query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")],
  check: () => undefined,
};

/** The start of a load: exclusive, without a timeout. */
export const LOAD_START: TransactionStart = {
  queries: [
    query("BEGIN ISOLATION LEVEL READ COMMITTED"),
    query("SET LOCAL statement_timeout = 0"),
    query("SET LOCAL idle_in_transaction_session_timeout = 0"),
    query(SQL.takeLock, STORE_LOCK),
    query(SQL.readSchema),
  ],
  check(answers) {
    checkSchema(toState(answers[4]?.rows[0]), POSTGRES_MIGRATIONS, "write");
  },
};

/**
 * The lock timeout and the statement timeout of a migration of a store with data. Writers queue
 * behind a waiting migration, so it gives up after that and lets them through. An ended statement
 * holds its locks for another tenth of a second.
 */
const SHORT = { lockMs: 500, statementMs: 900 };
/** For a store that is being created: no limit. */
const UNLIMITED = { lockMs: 0, statementMs: 0 };
const LOCK_PAUSE_MS = 500;
const LOCK_TRIES = 30;

/**
 * Migrates the store for writing. Under the lock one of several processes migrates, and the others
 * find it done. One transaction: all steps or none. In a store with data no statement holds a lock
 * for more than a second: longer work fails, and belongs in background maintenance.
 */
export async function migrate(
  db: PostgresConnection,
  migrations: readonly Migration[] = POSTGRES_MIGRATIONS,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const state = await readSchema(db);
    if (pendingMigrations(state, migrations).length === 0) return;
    try {
      return await migrateOnce(db, migrations, state === undefined ? UNLIMITED : SHORT);
    } catch (error) {
      // A failure here means a broken connection, whose transaction the server rolls back.
      await db.send([query("ROLLBACK")]).catch(() => undefined);
      if (!isTimeout(error) || tries === LOCK_TRIES) throw error;
      await pause(LOCK_PAUSE_MS);
    }
  }
}

async function migrateOnce(
  db: PostgresConnection,
  migrations: readonly Migration[],
  { lockMs, statementMs }: typeof SHORT,
): Promise<void> {
  await db.send([
    query("BEGIN"),
    query(SQL.limitMigration, String(lockMs), String(statementMs)),
    query(SQL.takeLock, STORE_LOCK),
  ]);
  const state = await readSchema(db);
  if (state === undefined) await db.send([query(BOOKKEEPING)]);
  for (const { version, name, minReader, minWriter, sql } of pendingMigrations(state, migrations)) {
    await db.send([query(SQL.claimVersion, version, name, minReader, minWriter), query(sql)]);
  }
  if (state === undefined) await renewEpoch(db);
  await db.send([query("COMMIT")]);
}

/** Undefined in an empty database. Throws `foreign_database` if it has other tables. */
export async function readSchema(db: PostgresConnection): Promise<SchemaState | undefined> {
  const ours = [
    "schema",
    "store",
    ...TABLES,
    ...INDEX_TABLES,
    ...DERIVED_TABLES,
    ...PROCESS_TABLES,
  ];
  const found = await db.all(SQL.findTables, ours);
  if (found.length === 0) return undefined;
  if (!found.some(({ name, versions }) => name === "schema" && versions === 1)) {
    throw foreignDatabase(found.map(({ name }) => String(name)));
  }
  const [row] = await db.all(SQL.readSchema);
  return toState(row);
}

export async function checkVersion(db: PostgresConnection, use: "read" | "write"): Promise<void> {
  checkSchema(await readSchema(db), POSTGRES_MIGRATIONS, use);
}

export async function readEpoch(db: PostgresConnection): Promise<string> {
  const [row] = await db.all(SQL.readEpoch);
  return String(row?.["value"] ?? "");
}

export async function readSetting(
  db: Pick<PostgresConnection, "all">,
  requested: Partial<IndexSetting>,
): Promise<StoredSetting> {
  const [row] = await db.all(SQL.readSetting);
  return decodeSetting(row?.["value"]) ?? firstSetting(requested);
}

/** The store's setting; a store without one gets `requested`. */
export async function settleSetting(
  db: Pick<PostgresConnection, "all">,
  requested: Partial<IndexSetting>,
): Promise<StoredSetting> {
  const [row] = await db.all(SQL.readSetting);
  const setting = settled(decodeSetting(row?.["value"]), requested);
  if (setting !== undefined) await db.all(SQL.settleSetting, encodeSetting(setting));
  return readSetting(db, requested);
}

export async function writeSetting(
  db: Pick<PostgresConnection, "all">,
  change: Partial<IndexSetting>,
): Promise<StoredSetting> {
  const setting = { ...(await readSetting(db, {})), ...change };
  await db.all(SQL.replaceSetting, encodeSetting(setting));
  return setting;
}

export async function renewEpoch(db: Pick<PostgresConnection, "all">): Promise<void> {
  await db.all(SQL.setEpoch, randomUUID());
}

function toState(row: Row | undefined): SchemaState | undefined {
  if (row === undefined) return undefined;
  return {
    version: Number(row["version"]),
    minReader: Number(row["min_reader"]),
    minWriter: Number(row["min_writer"]),
  };
}

function foreignDatabase(tables: readonly string[]): BackscrollError {
  const names = tables.slice(0, 3).join(", ");
  return new BackscrollError(
    "foreign_database",
    `the database holds tables of another program (${names}); it was left as it is: create a database for Backscroll, or a schema (?options=-c%20search_path%3DNAME)`,
    { details: { tables: names } },
  );
}
