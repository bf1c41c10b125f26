/** Brings a SQLite file to the schema that this code knows, or refuses it. */

import { randomUUID } from "node:crypto";
import { BackscrollError } from "../../model/errors.ts";
import { SEAL_TABLE } from "../backup-seal.ts";
import { storedEpoch } from "../damage/stored-json.ts";
import { checkSchema, type Migration, pendingMigrations, type SchemaState } from "../migration.ts";
import { MEMORY } from "../store-options.ts";
import { SQLITE_MIGRATIONS } from "./schema/index.ts";
import { type ConnectionOptions, SqliteConnection, type SqlRow } from "./sqlite-driver.ts";
import { NOW, statements } from "./sqlite-statements.ts";

/** "BkSc": marks the file as ours, so that we never write into another program's database. */
const APPLICATION_ID = 0x426b5363;

/** An append changes six to seven pages and logs each whole: see docs/decisions/write-path.md. */
const PAGE_BYTES = 2_048;

const SQL = statements("schema", {
  readSchema: `SELECT version, min_reader, min_writer FROM schema ORDER BY version DESC LIMIT 1`,
  claimVersion: `INSERT INTO schema (version, name, min_reader, min_writer, applied_at)
    VALUES (?, ?, ?, ?, ${NOW})`,
  setEpoch: `INSERT INTO store (key, value) VALUES ('epoch', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  readEpoch: `SELECT value FROM store WHERE key = 'epoch'`,
});

/**
 * Migrates the store for writing. Under the write lock one of several processes migrates, and the
 * others find it done. One transaction: all steps or none.
 */
export function migrate(
  db: SqliteConnection,
  migrations: readonly Migration[] = SQLITE_MIGRATIONS,
): void {
  refuseForeign(db);
  // Both are part of the file and cannot change inside a transaction; the first only while the file
  // is empty.
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  if (db.path !== MEMORY) switchToLog(db);
  dropSeal(db);
  if (pendingMigrations(readSchema(db), migrations).length === 0) return;
  db.begin();
  try {
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`CREATE TABLE IF NOT EXISTS schema (
      version INTEGER PRIMARY KEY, name TEXT NOT NULL, min_reader INTEGER NOT NULL,
      min_writer INTEGER NOT NULL, applied_at INTEGER NOT NULL)`);
    db.exec("CREATE TABLE IF NOT EXISTS store (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    for (const migration of pendingMigrations(readSchema(db), migrations)) {
      const { version, name, minReader, minWriter } = migration;
      db.run(SQL.claimVersion, version, name, minReader, minWriter);
      db.exec(migration.sql);
    }
    if (db.get(SQL.readEpoch) === undefined) db.run(SQL.setEpoch, randomUUID());
    db.commit();
  } catch (error) {
    db.rollback();
    throw error;
  }
}

/** A copy made by another tool may have lost WAL mode, which this store needs. */
function switchToLog(db: SqliteConnection): void {
  const mode = db.get("PRAGMA journal_mode")?.["journal_mode"];
  if (mode === "wal" || db.get("PRAGMA journal_mode = WAL")?.["journal_mode"] === "wal") return;
  throw new BackscrollError(
    "unsupported_storage",
    `${db.path} cannot have a write-ahead log where it is; move it to a local disk`,
    { details: { path: db.path } },
  );
}

/**
 * Throws unless this code may use the store. Writers call it after a commit of another connection.
 */
export function checkVersion(db: SqliteConnection, use: "read" | "write"): void {
  const state = use === "write" ? toState(db.get(SQL.readSchema)) : readSchema(db);
  checkSchema(state, SQLITE_MIGRATIONS, use);
}

/** A connection; a reader sees an older store as its migrations will make it. */
export function connect(path: string, options: ConnectionOptions): SqliteConnection {
  const db = new SqliteConnection(path, options);
  if (options.readOnly !== true || path === MEMORY) return db;
  try {
    const state = readSchema(db);
    const pending = state === undefined ? [] : pendingMigrations(state, SQLITE_MIGRATIONS);
    for (const { bridge } of pending) {
      if (bridge !== undefined) db.exec(bridge);
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The same for a store that this connection could read before. */
export function checkStillReadable(db: SqliteConnection): void {
  checkSchema(toState(db.get(SQL.readSchema)), SQLITE_MIGRATIONS, "read");
}

export function refuseForeign(db: SqliteConnection): void {
  // Tables before the mark: a concurrent creator commits both together.
  const tables = db.get("SELECT count(*) AS count FROM sqlite_schema")?.["count"];
  const id = db.get("PRAGMA application_id")?.["application_id"];
  if (id === APPLICATION_ID) return;
  if (id === 0 && tables === 0) return;
  throw new BackscrollError(
    "foreign_database",
    `${db.path} is a database of another program; it was left as it is: choose another path`,
    { details: { path: db.path } },
  );
}

export function readEpoch(db: SqliteConnection): string {
  return storedEpoch(db.get(SQL.readEpoch)?.["value"]);
}

export function renewEpoch(db: SqliteConnection): void {
  db.run(SQL.setEpoch, randomUUID());
}

export function readSchema(db: SqliteConnection): SchemaState | undefined {
  const exists = db.get(
    "SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'schema'",
  );
  if (exists === undefined) return undefined;
  return toState(db.get(SQL.readSchema));
}

function toState(row: SqlRow | undefined): SchemaState | undefined {
  if (row === undefined) return undefined;
  return {
    version: Number(row["version"]),
    minReader: Number(row["min_reader"]),
    minWriter: Number(row["min_writer"]),
  };
}

/** Nothing else may have the file open, so that all of it is in the file afterwards. */
export function sealBackup(path: string, sums: readonly (readonly [string, string])[]): void {
  const db = new SqliteConnection(path);
  try {
    db.begin();
    db.exec(`CREATE TABLE ${SEAL_TABLE} (part TEXT, sha256 TEXT)`);
    for (const [part, sum] of sums) db.run(`INSERT INTO ${SEAL_TABLE} VALUES (?, ?)`, part, sum);
    db.commit();
  } finally {
    db.close();
  }
}

/** The seal as a batch of the dump; undefined: the store has none. */
export function sealRows(db: SqliteConnection): { table: string; rows: SqlRow[] } | undefined {
  if (!hasSeal(db)) return undefined;
  return { table: SEAL_TABLE, rows: db.all(`SELECT part, sha256 FROM ${SEAL_TABLE}`) };
}

/** Before the first write of the file as an ordinary store. */
function dropSeal(db: SqliteConnection): void {
  if (hasSeal(db)) db.exec(`DROP TABLE IF EXISTS ${SEAL_TABLE}`);
}

function hasSeal(db: SqliteConnection): boolean {
  const sql = `SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = '${SEAL_TABLE}'`;
  return db.get(sql) !== undefined;
}
