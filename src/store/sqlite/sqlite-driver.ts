/**
 * One connection to a SQLite database, through `node:sqlite`.
 *
 * A narrow interface, so that the driver stays replaceable. It has no `iterate`: an unfinished one
 * holds a read transaction open and blocks checkpoints.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Durability } from "../store.ts";
import { MEMORY } from "../store-options.ts";
import { nodeSqlite } from "./node-sqlite.ts";
import { locationForReading } from "./opening/read-only-folder.ts";
import { PackCache } from "./packs/pack.ts";
import { translateSqliteError } from "./sqlite-errors.ts";
import { WriteCache } from "./write-cache.ts";

export type SqlValue = null | number | string | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface ConnectionOptions {
  readonly readOnly?: boolean;
  readonly durability?: Durability;
  /** The page cache, in KiB. */
  readonly cacheKib?: number;
}

/**
 * WAL recovery: the first statement of a connection may meet another process that holds a lock while
 * it recovers the log after a crash.
 */
const OPEN_TIMEOUT_MS = 10_000;

/** Pages per row of a batch, whose rows share pages. */
const PAGES_PER_ROW = 0.5;

export class SqliteConnection {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  readonly #listStatements = new Map<string, Prepared>();
  #dataVersion: StatementSync | undefined;
  /** Tenant numbers by name. Cleared by a rollback, which may undo a new tenant. */
  readonly tenants: Map<string, number> = new Map();
  /** Cleared by a rollback too. */
  readonly packs: PackCache = new PackCache();
  /** Valid only inside a write transaction. */
  readonly cache: WriteCache = new WriteCache();

  /** The data version at which this connection last checked the schema. */
  seenVersion: number | undefined;

  constructor(path: string, options: ConnectionOptions = {}) {
    this.path = path;
    const { DatabaseSync: Database } = nodeSqlite();
    try {
      const readOnly = (options.readOnly ?? false) && path !== MEMORY;
      this.#database = new Database(readOnly ? locationForReading(path) : path, {
        readOnly: options.readOnly ?? false,
        enableForeignKeyConstraints: true,
        timeout: OPEN_TIMEOUT_MS,
      });
    } catch (error) {
      throw translateSqliteError(error);
    }
    try {
      this.exec("PRAGMA secure_delete = ON");
      this.exec(`PRAGMA cache_size = -${options.cacheKib ?? 16_384}`);
      this.exec("PRAGMA wal_autocheckpoint = 0");
      // The log is reused from its start after a checkpoint, and keeps its size: a file that does
      // not grow syncs in half the time.
      this.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
      this.survive(options.durability ?? "power-loss");
      this.exec("PRAGMA trusted_schema = OFF");
      // From here on the queue handles lock waits: SQLite's busy handler would block the thread,
      // and is unfair.
      this.exec("PRAGMA busy_timeout = 0");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get handle(): DatabaseSync {
    return this.#database;
  }

  exec(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    try {
      const { statement, numbered } = this.#prepare(sql);
      return statement.get(...(numbered ? byName(values) : values)) as SqlRow | undefined;
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  all(sql: string, ...values: readonly SqlValue[]): SqlRow[] {
    try {
      const { statement, numbered } = this.#prepare(sql);
      return statement.all(...(numbered ? byName(values) : values)) as SqlRow[];
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /** Rows as lists of their columns. */
  lists(sql: string, ...values: readonly SqlValue[]): SqlValue[][] {
    try {
      const { statement, numbered } = this.#prepare(sql, true);
      const rows = statement.all(...(numbered ? byName(values) : values)) as unknown;
      return rows as SqlValue[][];
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /**
   * Rows as objects with these names for their columns, in order. Copying an object that has the
   * names and then setting its fields takes a third of the time of adding field after field.
   */
  records<const Name extends string>(
    sql: string,
    names: readonly Name[],
    ...values: readonly SqlValue[]
  ): Record<Name, SqlValue>[] {
    try {
      const { statement, numbered } = this.#prepare(sql, true);
      const lists = statement.all(...(numbered ? byName(values) : values)) as unknown;
      const empty = Object.fromEntries(names.map((name) => [name, null]));
      return (lists as SqlValue[][]).map((list) => {
        const record = { ...empty } as Record<Name, SqlValue>;
        for (let i = 0; i < names.length; i++) record[names[i] as Name] = list[i] as SqlValue;
        return record;
      });
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /** Gives the number of rows that changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    try {
      const { statement, numbered } = this.#prepare(sql);
      const changes = Number(statement.run(...(numbered ? byName(values) : values)).changes);
      this.pagesWritten += changes * PAGES_PER_ROW;
      return changes;
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /** As `run`, for long lists of values and plain placeholders: it copies the list once, not twice. */
  insert(sql: string, values: readonly SqlValue[]): void {
    try {
      const { changes } = this.#prepare(sql).statement.run(...values);
      this.pagesWritten += Number(changes) * PAGES_PER_ROW;
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /** Approximate pages written since the last checkpoint of this or another connection. */
  pagesWritten = 0;

  begin(): void {
    this.run("BEGIN IMMEDIATE");
  }

  commit(): void {
    this.run("COMMIT");
  }

  /** Changes when another connection, in this process or another, has committed. */
  dataVersion(): number {
    try {
      if (this.#dataVersion === undefined) {
        this.#dataVersion = this.#database.prepare("PRAGMA data_version");
        // Called often: an array takes two thirds of the time of an object. Node 22 has no arrays.
        this.#dataVersion.setReturnArrays?.(true);
      }
      const row = this.#dataVersion.get() as unknown as
        | [number]
        | { readonly data_version: number };
      return Array.isArray(row) ? row[0] : row.data_version;
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /** Ends the transaction if one is open; SQLite itself ends it after some errors. */
  rollback(): void {
    this.tenants.clear();
    this.packs.clear();
    this.cache.forget();
    if (this.#database.isTransaction) this.exec("ROLLBACK");
  }

  /** Checkpoints the write-ahead log. False if another connection blocked all or part of it. */
  checkpoint(mode: "PASSIVE" | "TRUNCATE"): boolean {
    const { busy, log, checkpointed } = this.get(`PRAGMA wal_checkpoint(${mode})`) ?? {};
    return busy === 0 && log === checkpointed;
  }

  /** Sets the durability of later commits, which include all earlier ones. Not in a transaction. */
  survive(durability: Durability): void {
    this.exec(`PRAGMA synchronous = ${durability === "process" ? "NORMAL" : "FULL"}`);
  }

  close(): void {
    this.#statements.clear();
    this.#listStatements.clear();
    this.#dataVersion = undefined;
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string, asLists = false): Prepared {
    const known = asLists ? this.#listStatements : this.#statements;
    let prepared = known.get(sql);
    if (prepared === undefined) {
      prepared = { statement: this.#database.prepare(sql), numbered: sql.includes("?1") };
      if (asLists) prepared.statement.setReturnArrays(true);
      known.set(sql, prepared);
    }
    return prepared;
  }
}

interface Prepared {
  readonly statement: StatementSync;
  /** Its parameters are `?1`, `?2` and so on. */
  readonly numbered: boolean;
}

/**
 * Node 22 treats `?1` as a named parameter and does not bind it by position. Binding by name works
 * everywhere.
 */
function byName(values: readonly SqlValue[]): readonly SqlValue[] {
  const named = Object.fromEntries(values.map((value, i) => [`?${i + 1}`, value]));
  return [named] as unknown as readonly SqlValue[];
}
