/**
 * Logical dump of a SQLite store, and its load into an empty one.
 *
 * For moving a store to another backend, and for backups there. A dump reads one snapshot on its own
 * connection.
 */

import { BackscrollError } from "../../model/errors.ts";
import { textOrNull } from "../damage/stored-json.ts";
import type { Row, RowBatch } from "../records.ts";
import { isTableName, TABLES, type TableName } from "../tables.ts";
import { PARENT_ID } from "./operations/entry-columns.ts";
import { unfold } from "./packs/read-pack.ts";
import { preparePack, writePack } from "./packs/write-pack.ts";
import { SqliteConnection, type SqlRow, type SqlValue } from "./sqlite-driver.ts";
import { connect, renewEpoch, sealRows } from "./sqlite-schema.ts";

const BATCH_ROWS = 500;

/** Their rows may have megabytes. */
const LARGE: readonly TableName[] = ["blobs", "original_parts", "records"];
const BATCH_BLOBS = 16;

/**
 * A dump leaves out SQLite's row numbers and the feed fields derived from them, and unpacks packs
 * into rows.
 */
const PRIVATE_COLUMNS: readonly string[] = [
  "entry",
  "first_entry",
  "fed_at",
  "fed_hash",
  "fed_usage",
  "fed_usage_hash",
  "pack",
];

/** Columns that an entry needs to be packed: an old dump may lack some. */
const PACKED_COLUMNS: readonly string[] = ["session", "sequence", "kind", "content", "metadata"];

/** Views that complete a table with the columns stored in entries. */
const WHOLE: Partial<Record<TableName, string>> = { tenants: "tenants_now", changes: "feed" };

/** The rowids of loaded entries are unrelated to the feed, so the feed's rowids begin after them. */
const AFTER_ALL_ENTRIES = `UPDATE tenants SET first_entry =
  (SELECT coalesce(max(entry), 0) FROM entries) + 4294967296 * (tenant - 1)`;

/** `source` is a path, or the connection of an in-memory store. */
export async function* dumpRows(source: string | SqliteConnection): AsyncGenerator<RowBatch> {
  if (typeof source !== "string") {
    // Collected first: the store's own writes use this connection between yields.
    yield* [...allBatches(source)];
    return;
  }
  const db = connect(source, { readOnly: true });
  try {
    db.exec("BEGIN");
    yield* allBatches(db);
  } finally {
    db.close();
  }
}

/** `whenFree` retries an action until no other process holds the lock. */
export async function loadRows(
  target: string | SqliteConnection,
  source: AsyncIterable<RowBatch>,
  whenFree: (action: () => void) => Promise<void>,
): Promise<void> {
  if (typeof target !== "string") {
    // Collected first: the store's own writes use this connection between our awaits.
    const all: RowBatch[] = [];
    for await (const batch of source) all.push(batch);
    fill(target, (insert) => {
      for (const batch of all) insert(batch);
    });
    return;
  }
  const db = new SqliteConnection(target);
  try {
    await whenFree(() => db.begin());
    refuseFilled(db);
    for await (const batch of source) insertBatch(db, batch);
    db.run(AFTER_ALL_ENTRIES);
    renewEpoch(db);
    db.commit();
  } catch (error) {
    db.rollback();
    throw error;
  } finally {
    db.close();
  }
}

function fill(db: SqliteConnection, each: (insert: (batch: RowBatch) => void) => void): void {
  db.begin();
  try {
    refuseFilled(db);
    each((batch) => insertBatch(db, batch));
    db.run(AFTER_ALL_ENTRIES);
    renewEpoch(db);
    db.commit();
    db.cache.forget();
  } catch (error) {
    db.rollback();
    throw error;
  }
}

function refuseFilled(db: SqliteConnection): void {
  if (db.get("SELECT 1 AS found FROM tenants LIMIT 1") === undefined) return;
  throw new BackscrollError(
    "store_not_empty",
    `the store at ${db.path} holds data already; restore into a new store (restore FILE --db NEW)`,
    { details: { path: db.path } },
  );
}

function insertBatch(db: SqliteConnection, batch: RowBatch): void {
  if (!isTableName(batch.table) || batch.rows.length === 0) return;
  const known = columnsOf(db, batch.table);
  const given = Object.keys(batch.rows[0] as Row).filter((column) => known.includes(column));
  const isPacked =
    batch.table === "entries" && PACKED_COLUMNS.every((column) => given.includes(column));
  const columns = isPacked ? [...given, "pack"] : given;
  const rows = isPacked ? packLoaded(db, batch.rows) : batch.rows;
  const sql = `INSERT INTO ${batch.table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  for (const row of rows) {
    db.run(sql, ...columns.map((column) => (row[column] ?? null) as SqlValue));
  }
}

/** Table and column names come from our own list and the database, never from a caller. */
function selectAll(db: SqliteConnection, table: TableName): string {
  const columns = columnsOf(db, table);
  if (table !== "entries") return `SELECT ${columns.join(", ")} FROM ${WHOLE[table] ?? table}`;
  const own = columns.map((name) =>
    name === "parent_id" ? `${PARENT_ID} AS ${name}` : `e.${name}`,
  );
  return `SELECT ${own.join(", ")}, e.pack FROM entries e`;
}

function columnsOf(db: SqliteConnection, table: TableName): string[] {
  return db
    .all("SELECT name FROM pragma_table_info(?)", table)
    .map((row) => String(row["name"]))
    .filter((column) => !PRIVATE_COLUMNS.includes(column));
}

function* allBatches(db: SqliteConnection): Generator<RowBatch> {
  const seal = sealRows(db);
  if (seal !== undefined) yield seal;
  for (const table of TABLES) {
    const rows = readAll(db, table);
    const size = LARGE.includes(table) ? BATCH_BLOBS : BATCH_ROWS;
    for (const batch of batches(rows, size)) yield { table, rows: batch };
  }
}

function* readAll(db: SqliteConnection, table: TableName): Generator<SqlRow> {
  const rows = db.handle.prepare(selectAll(db, table)).iterate() as Iterable<SqlRow>;
  if (table !== "entries") yield* rows;
  else for (const row of rows) yield wholeEntry(db, row);
}

function wholeEntry(db: SqliteConnection, row: SqlRow): SqlRow {
  const { pack, ...own } = unfold(db, Number(row["tenant"]), Number(row["session"]), row);
  return pack === null ? own : { ...own, ...asBytes(own, "content"), ...asBytes(own, "metadata") };
}

/** Packed text as bytes, as in unpacked rows. */
function asBytes(row: SqlRow, column: string): SqlRow {
  const value = row[column] ?? null;
  return { [column]: typeof value === "string" ? Buffer.from(value) : value };
}

function* batches(rows: Iterable<SqlRow>, size: number): Generator<SqlRow[]> {
  let batch: SqlRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The batch size of an import. */
const MAX_ENTRIES = 128;
const MAX_BYTES = 128 * 1024;

/** Rows in this backend's form: with `pack`, and without packed columns. */
function packLoaded(db: SqliteConnection, rows: readonly Row[]): Row[] {
  return [...runs(rows)].flatMap((run) => {
    const { tenant, session, sequence } = run[0] as Row;
    const entries = run.map((row) => ({
      kind: String(row["kind"]),
      role: textOrNull(row["role"]),
      content: bytesOf(row["content"]),
      metadata: bytesOf(row["metadata"]),
    }));
    const pack = preparePack(entries);
    const parts = writePack(db, Number(tenant), Number(session), Number(sequence), pack);
    return run.map((row, i) => ({ ...row, ...parts[i] }));
  });
}

/** Runs of consecutive sequences in one session, up to a pack's size. */
function* runs(rows: readonly Row[]): Generator<Row[]> {
  let run: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const last = run.at(-1);
    const isFull = run.length === MAX_ENTRIES || bytes >= MAX_BYTES;
    if (last !== undefined && (isFull || !follows(row, last))) {
      yield run;
      run = [];
      bytes = 0;
    }
    run.push(row);
    bytes += (bytesOf(row["content"])?.length ?? 0) + (bytesOf(row["metadata"])?.length ?? 0);
  }
  if (run.length > 0) yield run;
}

function follows(row: Row, last: Row): boolean {
  return (
    row["tenant"] === last["tenant"] &&
    row["session"] === last["session"] &&
    Number(row["sequence"]) === Number(last["sequence"]) + 1
  );
}

function bytesOf(value: Row[string] | undefined): Buffer | null {
  if (!(value instanceof Uint8Array)) return null;
  return Buffer.from(value.buffer, value.byteOffset, value.length);
}
