/**
 * One transaction, with one round trip per read.
 *
 * A write without a result is deferred and sent with the next read or with COMMIT. So an append
 * takes two round trips: one reads the state under the session's lock, one writes and commits.
 */

import type { Row } from "../records.ts";
import {
  type Answer,
  type PostgresConnection,
  type Query,
  query,
  type SqlValue,
} from "./postgres-driver.ts";
import { statements } from "./postgres-statements.ts";

/** The number of a tenant without rows. */
export const NO_TENANT = 0;

const SQL = statements("transaction", {
  /** Row-level security lets a transaction see the rows of this tenant only. */
  enter: `SELECT set_config('backscroll.tenant', $1, true)`,
});

export interface TransactionStart {
  /** Begins the transaction. Sent with the first question. */
  readonly queries: readonly Query[];
  /** Looks at the answers; throws if the transaction must not go on. */
  check(answers: readonly Answer[]): void;
}

export class Transaction {
  /** The tenant's name, and its number or `NO_TENANT`. */
  readonly name: string;
  #tenant: number;
  readonly #connection: PostgresConnection;
  readonly #start: TransactionStart;
  #begun = false;
  #ended = false;
  #commitSent = false;
  #deferred: Query[] = [];
  #last: Query[] = [];

  constructor(
    connection: PostgresConnection,
    start: TransactionStart,
    name: string,
    tenant: number,
  ) {
    this.#connection = connection;
    this.#start = start;
    this.name = name;
    this.#tenant = tenant;
    this.#deferred.push(query(SQL.enter, String(tenant)));
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

  /** Goes on as another tenant: one that this transaction has made, or the next of a series. */
  enter(tenant: number): void {
    this.#tenant = tenant;
    this.defer(SQL.enter, String(tenant));
  }

  /** A write whose outcome is known with the next question or the commit. */
  defer(sql: string, ...values: readonly SqlValue[]): void {
    this.#deferred.push(query(sql, ...values));
  }

  /** A write that must be the very last, because it takes a lock that all writers meet at. */
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

  /** Asks several questions in one round trip. One that is undefined is not asked: no rows. */
  async together(questions: readonly (Query | undefined)[]): Promise<(readonly Row[])[]> {
    const asked = questions.filter((question) => question !== undefined);
    const answers = await this.#flush(asked);
    return questions.map((question) =>
      question === undefined ? [] : (answers[asked.indexOf(question)]?.rows ?? []),
    );
  }

  /** Commits, after the deferred writes and, in the same round trip, some last questions. */
  async commit(questions: readonly Query[] = []): Promise<(readonly Row[])[]> {
    // A check at the beginning may refuse the transaction, so await it before COMMIT.
    if (!this.#begun) await this.#flush([]);
    const closing = [...questions, ...this.#last, query("COMMIT")];
    this.#commitSent = true;
    const answers = await this.#flush(closing);
    const { command } = answers.at(-1) ?? {};
    if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
    this.#ended = true;
    return answers.slice(0, questions.length).map((answer) => answer.rows);
  }

  /** Ends without the deferred writes: after a read, or after an error. */
  async end(how: "COMMIT" | "ROLLBACK"): Promise<void> {
    this.#ended = true;
    if (this.#begun) await this.#connection.send([query(how)]);
  }

  async #flush(queries: readonly Query[]): Promise<Answer[]> {
    const start = this.#begun ? [] : this.#start.queries;
    const deferred = this.#deferred;
    this.#deferred = [];
    const isFirst = !this.#begun;
    this.#begun = true;
    const answers = await this.#connection.send([...start, ...deferred, ...queries]);
    if (isFirst) this.#start.check(answers.slice(0, start.length));
    return answers.slice(start.length + deferred.length);
  }
}
