/**
 * Databases of other agents: opened read-only, always closed, with damage as a problem instead of
 * an exception.
 *
 * The agent may be writing; SQLite reads the file and its log.
 *
 * A file may come from anywhere. A view can be an endless query, and a virtual table runs code:
 * only tables with stored rows are queried.
 */

import type { DatabaseSync } from "node:sqlite";
import { countField, type Fields, textField } from "./fields.ts";
import { type CutLimits, CutLine } from "./long/long-line.ts";
import type { ProblemLog } from "./problems.ts";

export type Row = Fields;

export interface ForeignDatabase {
  /** The rows, one in memory at a time; none, with a problem, if the query fails. */
  rows(sql: string, ...parameters: (string | number)[]): Generator<Row>;
  /** Whether there is such a table, with such a stored column. */
  has(table: string, column?: string): boolean;
  /** Whether a query failed, so that the rows are incomplete. */
  readonly hasFailed: boolean;
  /** The encoding of its texts. */
  readonly isUtf8: boolean;
}

/** A column of text, or of its bytes, in a table with the primary key `key`. */
export interface LongColumn {
  readonly table: string;
  readonly key: string;
  readonly column: string;
  /** Limits of a long value. Default: those of a line. */
  readonly limits?: CutLimits;
}

/** A column that is null where its value is long, and its size: as `NAME` and `NAME_size`. */
export function shortColumn(name: string): string {
  const short = `CASE WHEN octet_length(${name}) <= ${SHORT_BYTES} THEN ${name} END AS ${name}`;
  return `${short}, octet_length(${name}) AS ${name}_size`;
}

/** A column that is null where its value exceeds any record's limit. */
export function boundedColumn(name: string): string {
  return `CASE WHEN octet_length(${name}) <= ${MAX_LONG_BYTES} THEN ${name} END AS ${name}`;
}

/** Bytes for any text of up to a million characters. */
const SHORT_BYTES = 4 * 1024 * 1024;

/** A longer value would take too much memory in SQLite alone. */
const MAX_LONG_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 4 * 1024 * 1024;

/**
 * The text of a row selected with `shortColumn`; undefined if it has none. A long one is read in
 * pieces, with its own long values cut: whole, it would be in memory twice.
 */
export function textOfRow(
  database: ForeignDatabase,
  { table, key, column, limits }: LongColumn,
  row: Row,
  problems: ProblemLog,
): string | undefined {
  const value = row[column];
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  const size = countField(row, `${column}_size`) ?? 0;
  const id = textField(row, key) ?? "";
  if (size > MAX_LONG_BYTES) {
    problems.add("line_too_long", `${id} is longer than 64 MB and was left out`);
  }
  if (size === 0 || size > MAX_LONG_BYTES) return undefined;
  if (!database.isUtf8) {
    const [whole] = database.rows(`SELECT ${column} AS text FROM ${table} WHERE ${key} = ?`, id);
    return textField(whole ?? {}, "text");
  }
  const piece = `substr(CAST(${column} AS BLOB), ?1, ${PIECE_BYTES}) AS piece`;
  const sql = `SELECT ${piece} FROM ${table} WHERE ${key} = ?2`;
  const line = new CutLine(limits);
  for (let from = 1; from <= size; from += PIECE_BYTES) {
    const [part] = database.rows(sql, from, id);
    const bytes = part?.["piece"];
    if (!(bytes instanceof Uint8Array)) return undefined;
    line.add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  }
  const { text, damage } = line.end();
  const isTooLong = damage === "too_long";
  if (isTooLong) problems.add("line_too_long", `${id} is too long, and was left out`);
  else if (line.isCut) {
    problems.add("line_cut", `${id} is longer than 1 MB; long values were cut`);
  }
  return isTooLong ? undefined : text;
}

/** How long to wait for a writer; the next reading comes soon. */
const BUSY_MS = 1000;

const MAGIC = "SQLite format 3\0";

/** Whether a file that begins with `head` is a SQLite database, and its readable text. */
export function databaseText(head: Uint8Array): string | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  return bytes.toString("latin1", 0, MAGIC.length) === MAGIC ? bytes.toString("latin1") : undefined;
}

/**
 * Accept only real tables with stored columns: a handcrafted schema may define views or generated
 * columns that compute without end.
 */
const FIND_TABLE = `SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE
  AND type = 'table' AND rootpage > 0 AND sql LIKE 'CREATE TABLE %'
  AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(sqlite_schema.name) x WHERE x.hidden = 2)`;

/** The result of `read` on the database at `path`. */
export async function* withDatabase<Item>(
  path: string,
  problems: ProblemLog,
  read: (database: ForeignDatabase) => AsyncGenerator<Item>,
): AsyncGenerator<Item> {
  // Loaded on demand: Node 22 warns of the module at its first use.
  const { DatabaseSync } = await import("node:sqlite");
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
  } catch (cause) {
    problems.add("unexpected", `the database cannot be opened: ${(cause as Error).message}`);
    return;
  }
  try {
    yield* read(wrap(database, problems));
  } finally {
    database.close();
  }
}

function wrap(database: DatabaseSync, problems: ProblemLog): ForeignDatabase {
  const told = new Set<string>();
  const tell = (cause: unknown) => {
    const { message } = cause as Error;
    if (!told.has(message)) problems.add("unexpected", `the database cannot be read: ${message}`);
    told.add(message);
  };
  const tables = new Set<string>();
  const isTable = (name: string) => {
    // Cached: there are few tables, and every query checks them.
    if (!tables.has(name) && database.prepare(FIND_TABLE).get(name) !== undefined) tables.add(name);
    return tables.has(name);
  };
  return {
    get hasFailed() {
      return told.size > 0;
    },
    get isUtf8() {
      return database.prepare("PRAGMA encoding").get()?.["encoding"] === "UTF-8";
    },
    *rows(sql, ...parameters) {
      try {
        for (const [, name = ""] of sql.matchAll(/\bFROM (\w+)/g)) {
          if (!isTable(name)) throw new Error(`no such table: ${name}`);
        }
        yield* database.prepare(sql).iterate(...parameters) as Iterable<Row>;
      } catch (cause) {
        tell(cause);
      }
    },
    has(table, column) {
      try {
        if (!isTable(table)) return false;
        const columns = database.prepare("SELECT name FROM pragma_table_info(?)").all(table);
        return column === undefined || columns.some(({ name }) => name === column);
      } catch (cause) {
        tell(cause);
        return false;
      }
    },
  };
}
