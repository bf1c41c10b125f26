/**
 * A pipelined transaction: one round trip per read.
 *
 * A write without a result is deferred and sent with the next read or with COMMIT. So an append
 * takes two round trips: one reads the state under the session's lock, one writes and commits.
 */

import type { Row } from "../records.ts";
import type { Durability } from "../store.ts";
import {
  type Answer,
  type PostgresConnection,
  type Query,
  query,
  type SqlValue,
} from "./postgres-driver.ts";
import { ServerChanged } from "./postgres-errors.ts";
import { statements } from "./postgres-statements.ts";

/** The number of a tenant without rows. */
export const NO_TENANT = 0;

/**
 * Identifies one run of one server: two servers, or two runs of one, never start at the same
 * microsecond.
 */
export const SERVER_RUN = "extract(epoch FROM pg_postmaster_start_time())::text";

const SQL = statements("transaction", {
  tenantByName: `SELECT tenant FROM tenants WHERE name = $1`,
  /** Row-level security shows a transaction only this tenant's rows. */
  enter: `SELECT set_config('backscroll.tenant', $1, true)`,
  /** Settings are local to the transaction: a pooler may give the next one another connection. */
  begin: `SELECT ${SERVER_RUN} AS server, set_config('backscroll.tenant', $1, true),
      set_config('lock_timeout', $2, true), set_config('statement_timeout', $3, true),
      set_config('idle_in_transaction_session_timeout', $4, true),
      set_config('synchronous_commit', coalesce($5, current_setting('synchronous_commit')), true)`,
});

/** Gives a tenant's number. */
export const TENANT_BY_NAME: string = SQL.tenantByName;

/** Statements take milliseconds: a hanging one must not hold its locks. */
const STATEMENT_TIMEOUT_MS = 60_000;
/** A host that hangs inside a transaction loses it, with its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 60_000;

/** Settings that all transactions of a database share. */
export interface TransactionSettings {
  /** The lock timeout of a statement. */
  readonly lockTimeoutMs: number;
  /**
   * `process`: acknowledged writes survive this process's death at once, and the server's after its
   * next WAL flush.
   */
  readonly durability: Durability;
}

export interface TransactionStart {
  /** The statements that begin the transaction, sent with the first query. */
  readonly queries: readonly Query[];
  /** Checks their answers; throws to refuse the transaction. */
  check(answers: readonly Answer[]): void;
}

export class Transaction {
  /** The tenant's name, and its number or `NO_TENANT`. */
  readonly name: string;
  #tenant: number;
  readonly #connection: PostgresConnection;
  readonly #start: TransactionStart;
  readonly #server: string;
  readonly #settings: TransactionSettings;
  #begun = false;
  #ended = false;
  #commitSent = false;
  #deferred: Query[] = [];
  #last: Query[] = [];
  #feedPosition = 0;

  /** `server` is the run of the server to which the number `tenant` belongs. */
  constructor(
    connection: PostgresConnection,
    start: TransactionStart,
    name: string,
    tenant: number,
    server: string,
    settings: TransactionSettings,
  ) {
    this.#connection = connection;
    this.#start = start;
    this.name = name;
    this.#tenant = tenant;
    this.#server = server;
    this.#settings = settings;
  }

  get tenant(): number {
    return this.#tenant;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Once COMMIT is sent, the outcome is unknown until the server answers. */
  get commitSent(): boolean {
    return this.#commitSent;
  }

  /** The end of the tenant's feed after this transaction; 0 if it wrote no change. */
  get feedPosition(): number {
    return this.#feedPosition;
  }

  /** Continues as another tenant: one created by this transaction, or the next of a series. */
  enter(tenant: number): void {
    this.#tenant = tenant;
    this.defer(SQL.enter, String(tenant));
  }

  /** A write whose outcome is known with the next query or the commit. */
  defer(sql: string, ...values: readonly SqlValue[]): void {
    this.#deferred.push(query(sql, ...values));
  }

  /** A write that must come last, because it takes a lock on which all writers contend. */
  deferLast(sql: string, ...values: readonly SqlValue[]): void {
    this.#last.push(query(sql, ...values));
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    const [rows] = await this.together([query(sql, ...values)]);
    return rows ?? [];
  }

  async get(sql: string, ...values: readonly SqlValue[]): Promise<Row | undefined> {
    const rows = await this.all(sql, ...values);
    return rows[0];
  }

  /** Sends several queries in one round trip. An undefined one gives no rows. */
  async together(queries: readonly (Query | undefined)[]): Promise<(readonly Row[])[]> {
    const sent = queries.filter((one) => one !== undefined);
    const answers = await this.#flush(sent);
    return queries.map((one) =>
      one === undefined ? [] : (answers[sent.indexOf(one)]?.rows ?? []),
    );
  }

  /** Commits after the deferred writes, with some last queries in the same round trip. */
  async commit(queries: readonly Query[] = []): Promise<(readonly Row[])[]> {
    // A check at the start may refuse the transaction, so await it before COMMIT.
    if (!this.#begun) await this.#flush([]);
    const closing = [...queries, ...this.#last, query("COMMIT")];
    this.#commitSent = true;
    const answers = await this.#flush(closing);
    const { command } = answers.at(-1) ?? {};
    if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
    this.#ended = true;
    for (const { rows } of answers.slice(queries.length, -1)) {
      this.#feedPosition = Number(rows[0]?.["feed_position"] ?? this.#feedPosition);
    }
    return answers.slice(0, queries.length).map((answer) => answer.rows);
  }

  /** Ends without the deferred writes: after a read or an error. */
  async end(how: "COMMIT" | "ROLLBACK"): Promise<void> {
    this.#ended = true;
    if (this.#begun) await this.#connection.send([query(how)]);
  }

  async #flush(queries: readonly Query[]): Promise<Answer[]> {
    const start = this.#begun ? [] : this.#beginning();
    const deferred = this.#deferred;
    this.#deferred = [];
    const isFirst = !this.#begun;
    this.#begun = true;
    const answers = await this.#connection.send([...start, ...deferred, ...queries]);
    if (isFirst) this.#check(answers.slice(0, start.length));
    return answers.slice(start.length + deferred.length);
  }

  #beginning(): Query[] {
    const [begin, ...rest] = this.#start.queries;
    const { lockTimeoutMs, durability } = this.#settings;
    const settings = query(
      SQL.begin,
      String(this.#tenant),
      String(lockTimeoutMs),
      String(STATEMENT_TIMEOUT_MS),
      String(IDLE_TRANSACTION_TIMEOUT_MS),
      durability === "process" ? "off" : null,
    );
    return [begin as Query, settings, ...rest];
  }

  #check([begin, settings, ...rest]: readonly Answer[]): void {
    if (settings?.rows[0]?.["server"] !== this.#server) throw new ServerChanged();
    this.#start.check([begin as Answer, ...rest]);
  }
}
