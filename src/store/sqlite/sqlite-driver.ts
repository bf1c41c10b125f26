/**
 * One connection to a SQLite database, through `node:sqlite`.
 *
 * The few methods that the rest of this folder uses, so that the driver stays replaceable. There is
 * no `iterate`: an unfinished one holds a read transaction open and blocks checkpoints.
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Durability } from "../store.ts";
import { translateSqliteError } from "./sqlite-errors.ts";

export type SqlValue = null | number | string | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface ConnectionOptions {
  readonly readOnly?: boolean;
  readonly durability?: Durability;
  /** The page cache, in KiB. */
  readonly cacheKib?: number;
}

export class SqliteConnection {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Numbers of tenants by name. Emptied by a rollback, which may have taken one back. */
  readonly tenants: Map<string, number> = new Map();

  constructor(path: string, options: ConnectionOptions = {}) {
    this.path = path;
    this.#database = translated(() => {
      return new DatabaseSync(path, {
        readOnly: options.readOnly ?? false,
        enableForeignKeyConstraints: true,
        // Lock waits are ours: SQLite's would block the thread, and is unfair.
        timeout: 0,
      });
    });
    try {
      this.exec("PRAGMA secure_delete = ON");
      this.exec(`PRAGMA cache_size = -${options.cacheKib ?? 16_384}`);
      this.exec("PRAGMA wal_autocheckpoint = 0");
      // A log that was moved into the database shrinks again, so that its size says what waits.
      this.exec("PRAGMA journal_size_limit = 1048576");
      this.exec(`PRAGMA synchronous = ${options.durability === "process" ? "NORMAL" : "FULL"}`);
      this.exec("PRAGMA trusted_schema = OFF");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get handle(): DatabaseSync {
    return this.#database;
  }

  exec(sql: string): void {
    translated(() => this.#database.exec(sql));
  }

  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    return translated(() => this.#prepare(sql).get(...values) as SqlRow | undefined);
  }

  all(sql: string, ...values: readonly SqlValue[]): SqlRow[] {
    return translated(() => this.#prepare(sql).all(...values) as SqlRow[]);
  }

  /** Gives the number of rows that changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return translated(() => Number(this.#prepare(sql).run(...values).changes));
  }

  begin(): void {
    this.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    this.exec("COMMIT");
  }

  /** Ends the transaction if one is open; SQLite itself ends it after some errors. */
  rollback(): void {
    this.tenants.clear();
    if (this.#database.isTransaction) this.exec("ROLLBACK");
  }

  /** Moves what is in the write-ahead log into the database, without waiting for anybody. */
  checkpoint(mode: "PASSIVE" | "TRUNCATE"): void {
    translated(() => this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get());
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function translated<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw translateSqliteError(error);
  }
}
