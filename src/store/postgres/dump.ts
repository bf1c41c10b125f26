/**
 * Logical dump of a PostgreSQL store, and its load into an empty one.
 *
 * A dump reads one snapshot. Row-level security shows a transaction one tenant at
 * a time, so both iterate over the tenants.
 */

import { BackscrollError } from "../../model/errors.ts";
import type { RowBatch } from "../records.ts";
import { isTableName, TABLES, type TableName } from "../tables.ts";
import { bigints, byteas, texts } from "./binary-copy.ts";
import { query, type Scalar, type SqlValue } from "./postgres-driver.ts";
import { renewEpoch } from "./postgres-schema.ts";
import { statements } from "./postgres-statements.ts";
import type { Transaction } from "./transaction.ts";

const SQL = statements("dump", {
  columns: `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
    WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  keys: `SELECT a.attname AS name FROM pg_index i
    CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY AS key (attnum, rank)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = key.attnum
    WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY key.rank`,
  tenants: `SELECT tenant FROM tenants ORDER BY tenant`,
});

const BATCH_ROWS = 500;
/** Payloads are megabytes each, and a batch is held in memory. */
const BATCH_BLOBS = 16;

/** Tables whose rows are sent one by one: an array would be another copy of megabytes. */
const LARGE: readonly TableName[] = ["blobs", "stream_chunks", "records"];

interface Column {
  readonly name: string;
  readonly type: string;
}

/** `tx` is a snapshot; the caller ends it. */
export async function* dumpRows(tx: Transaction): AsyncGenerator<RowBatch> {
  tx.defer("SET LOCAL statement_timeout = 0");
  // The consumer of the dump may be slow.
  tx.defer("SET LOCAL idle_in_transaction_session_timeout = 0");
  const tenants = (await tx.all(SQL.tenants)).map((row) => Number(row["tenant"]));
  for (const table of TABLES) {
    const columns = (await columnsOf(tx, table)).map(({ name }) => name);
    const keys = (await tx.all(SQL.keys, table)).map((row) => String(row["name"]));
    const size = table === "blobs" || table === "records" ? BATCH_BLOBS : BATCH_ROWS;
    for (const tenant of tenants) {
      tx.enter(tenant);
      // Names come from our own list and the catalogue, never from a caller.
      const declare = `DECLARE dumped NO SCROLL CURSOR FOR SELECT ${columns.join(", ")}
        FROM ${table} WHERE tenant = $1 ORDER BY ${keys.join(", ")}`;
      tx.defer(declare, tenant);
      for (;;) {
        const rows = await tx.all(`FETCH ${size} FROM dumped`);
        if (rows.length > 0) yield { table, rows };
        if (rows.length < size) break;
      }
      tx.defer("CLOSE dumped");
    }
  }
}

/** Fills the store inside `tx`, which the caller commits. */
export async function loadRows(
  tx: Transaction,
  address: string,
  source: AsyncIterable<RowBatch>,
): Promise<void> {
  const [tenants] = await tx.together([query(SQL.tenants)]);
  if (tenants?.[0] !== undefined) {
    throw new BackscrollError(
      "store_not_empty",
      `the store at ${address} holds data already; restore into a new store (restore FILE --db NEW)`,
      { details: { address } },
    );
  }
  for await (const batch of source) await insertBatch(tx, batch);
  await renewEpoch(tx);
}

/** Unknown columns and tables are left out. */
async function insertBatch(tx: Transaction, { table, rows }: RowBatch): Promise<void> {
  const [first] = rows;
  if (!isTableName(table) || first === undefined) return;
  const columns = (await columnsOf(tx, table)).filter(({ name }) => name in first);
  for (const [tenant, own] of Map.groupBy(rows, (row) => Number(row["tenant"]))) {
    tx.enter(tenant);
    if (LARGE.includes(table)) {
      const insert = insertOne(table, columns);
      for (const row of own) tx.defer(insert, ...columns.map(({ name }) => row[name] ?? null));
    } else {
      const arrays = columns.map(({ name, type }) =>
        arrayOf(
          type,
          own.map((row) => row[name] ?? null),
        ),
      );
      tx.defer(insertMany(table, columns), ...arrays);
    }
  }
  await tx.together([]);
}

function insertOne(table: TableName, columns: readonly Column[]): string {
  const marks = columns.map((_, i) => `$${i + 1}`);
  return `INSERT INTO ${table} (${names(columns)}) VALUES (${marks.join(", ")})`;
}

/** Values of the wrong type, from a damaged store, are sent as text for the server to parse. */
function arrayOf(type: string, values: readonly Scalar[]): SqlValue {
  if (type === "bigint" && all(values, isInteger)) return bigints(values);
  if (type === "text" && all(values, isText)) return texts(values);
  if (type === "bytea" && all(values, isBytes)) return byteas(values);
  return values;
}

function all<Kind extends Scalar>(
  values: readonly Scalar[],
  fits: (value: Scalar) => value is Kind,
): values is readonly (Kind | null)[] {
  return values.every((value) => value === null || fits(value));
}

function isInteger(value: Scalar): value is number {
  return Number.isSafeInteger(value);
}

function isText(value: Scalar): value is string {
  return typeof value === "string";
}

function isBytes(value: Scalar): value is Uint8Array {
  return value instanceof Uint8Array;
}

/** One array per column. */
function insertMany(table: TableName, columns: readonly Column[]): string {
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`);
  return `INSERT INTO ${table} (${names(columns)})
    SELECT loaded.* FROM unnest(${arrays.join(", ")}) AS loaded`;
}

function names(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(", ");
}

async function columnsOf(tx: Transaction, table: TableName): Promise<Column[]> {
  const rows = await tx.all(SQL.columns, table);
  return rows.map((row) => ({ name: String(row["name"]), type: String(row["type"]) }));
}
