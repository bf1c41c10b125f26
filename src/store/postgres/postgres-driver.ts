/**
 * Connections to a PostgreSQL server, through `pg`.
 *
 * A narrow interface, so that the driver stays replaceable. Statements are pipelined: a list of
 * them costs one round trip.
 */

import type { Socket } from "node:net";
import pg from "pg";
import { BackscrollError } from "../../model/errors.ts";
import type { Row } from "../records.ts";
import type { ConnectionFigures } from "../store.ts";
import { queueFull } from "../store-errors.ts";
import { BinaryCopy, type CopiedColumns } from "./binary-copy.ts";
import { isFatal, isUnknownName } from "./postgres-errors.ts";
import { preparedName } from "./postgres-statements.ts";

export type Scalar = null | number | string | Uint8Array;
export type SqlValue = Scalar | readonly Scalar[];

/** A statement and its values, to be sent with others. */
export interface Query {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Planned for these values, where they decide which index to use. */
  readonly planned?: "each time";
  /** A `COPY … TO STDOUT (FORMAT binary)` without parameters, and its column types. */
  readonly copied?: CopiedColumns;
}

export interface Answer {
  readonly rows: readonly Row[];
  /** The server's command tag, such as `COMMIT`. */
  readonly command: string;
}

export interface PoolOptions {
  /** The limit of callers waiting for a connection. */
  readonly maxQueue: number;
  /** The timeout of connecting, and of waiting for a free connection. */
  readonly connectTimeoutMs: number;
}

/** The pool size of one store. A node needs few: a server has about a hundred for all nodes. */
const MAX_CONNECTIONS = 10;
/** `connectTimeoutMs` for a primary. */
export const CONNECT_TIMEOUT_MS = 10_000;
/**
 * How long the first answer on a connection may take. A pooler that has no server for us keeps
 * statements waiting, PgBouncer for two minutes; a first statement takes milliseconds, because none
 * waits for a lock.
 */
export const FIRST_ANSWER_MS = 5_000;

export function query(sql: string, ...values: readonly SqlValue[]): Query {
  return { sql, values };
}

/**
 * Whether statements are prepared under names. A pooler in transaction mode may switch to a
 * connection with other prepared statements, or none: after the first such failure, statements are
 * unnamed.
 */
interface StatementNaming {
  isUsed: boolean;
}

/** One connection, owned by its taker until it is given back. */
export class PostgresConnection {
  readonly #client: pg.PoolClient;
  #naming: StatementNaming;
  #hasAnswered = false;
  /** The server has ended it; the driver learns so a moment later. */
  #isEnded = false;

  constructor(client: pg.PoolClient, naming: StatementNaming) {
    this.#client = client;
    this.#naming = naming;
  }

  /**
   * Sends all queries before awaiting the first answer. Rejects with the error of the first failed
   * query: inside a transaction, later ones fail only because of it.
   */
  async send(queries: readonly Query[]): Promise<Answer[]> {
    const { stream } = this.#client.connection;
    stream.cork();
    const pending = queries.map(({ sql, values, planned, copied }): Promise<Answer> => {
      if (copied !== undefined) return this.#copy(sql, copied);
      const isNamed = planned === undefined && this.#naming.isUsed;
      const name = isNamed ? preparedName(sql) : undefined;
      return this.#client.query<Row>({ text: sql, values: [...values], name });
    });
    stream.uncork();
    const silence = this.#hasAnswered ? undefined : this.#awaitFirst(pending[0]);
    // Awaits all: a connection with answers in flight could not be given back.
    const outcomes = await Promise.allSettled(pending);
    if (silence?.isOver) throw new ServerSilent();
    return outcomes.map((outcome) => {
      if (outcome.status === "rejected") {
        if (isUnknownName(outcome.reason)) this.#naming.isUsed = false;
        if (isFatal(outcome.reason)) this.#isEnded = true;
        throw outcome.reason;
      }
      return { rows: outcome.value.rows, command: outcome.value.command };
    });
  }

  /** Breaks the connection if the first answer is late. */
  #awaitFirst(first: Promise<unknown> | undefined): { readonly isOver: boolean } {
    const silence = { isOver: false };
    const giveUp = () => {
      silence.isOver = !this.#hasAnswered;
      if (silence.isOver) this.#client.connection.stream.destroy();
    };
    // A process that was suspended reads what has arrived meanwhile first.
    const timer = setTimeout(() => setImmediate(giveUp), FIRST_ANSWER_MS).unref();
    const answered = () => {
      this.#hasAnswered = true;
      clearTimeout(timer);
    };
    (first ?? Promise.resolve()).then(answered, answered);
    return silence;
  }

  #copy(sql: string, columns: CopiedColumns): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const copy: BinaryCopy = new BinaryCopy(sql, columns, (error) => {
        if (error) reject(error);
        else resolve({ rows: copy.received, command: "COPY" });
      });
      this.#client.query(copy);
    });
  }

  async all(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    const [answer] = await this.send([query(sql, ...values)]);
    return answer?.rows ?? [];
  }

  /** For a transaction that cannot be retried: unnamed statements need no prepared state. */
  dropNames(): void {
    this.#naming = { isUsed: false };
  }

  /** Returns the connection to the pool, or destroys it if its state is unknown. */
  giveBack(broken = false): void {
    this.#client.release(broken || this.#isEnded);
  }
}

export class PostgresPool {
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.PoolClient>();
  readonly #naming: StatementNaming = { isUsed: true };
  readonly #maxQueue: number;
  readonly #connectTimeoutMs: number;

  constructor(address: string, options: PoolOptions) {
    this.#maxQueue = options.maxQueue;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#pool = new pg.Pool({
      ...clientConfig(address),
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: options.connectTimeoutMs,
      // An idle pool lets the host exit without closing the store.
      allowExitOnIdle: true,
    });
    // The pool replaces a dead idle connection on demand: ignore the event.
    this.#pool.on("error", () => undefined);
    // A connection that dies in use fails its current statement, which reports it.
    this.#pool.on("connect", (client) => {
      client.on("error", () => undefined);
      this.#clients.add(client);
    });
    this.#pool.on("remove", (client) => this.#clients.delete(client));
  }

  /** A free connection, a new one, or the next one given back. */
  async take(): Promise<PostgresConnection> {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    // The pool queues a caller briefly even when a connection is idle.
    const waiting = totalCount - idleCount + waitingCount - MAX_CONNECTIONS;
    if (waiting >= this.#maxQueue) throw queueFull(waiting);
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#naming);
    } catch (cause) {
      if ((cause as Error).message !== "timeout exceeded when trying to connect") throw cause;
      throw new BackscrollError(
        "store_busy",
        `all ${MAX_CONNECTIONS} connections to the database have been in use for ${this.#connectTimeoutMs} ms; try again later`,
        { details: { connections: MAX_CONNECTIONS, retryAfterMs: 1_000 }, cause },
      );
    }
  }

  get figures(): Omit<ConnectionFigures, "retries"> {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** Breaks all connections, so that pending calls fail at once. */
  cut(): void {
    for (const client of this.#clients) client.connection.stream.destroy();
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** A separate connection for listening. `lost` is called once when it ends. */
export async function connectListener(
  address: string,
  channel: string,
  heard: () => void,
  lost: () => void,
): Promise<{ end(): Promise<void> }> {
  const client = new pg.Client({
    ...clientConfig(address),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  client.on("notification", heard);
  client.once("end", lost);
  try {
    await client.connect();
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
  } catch (error) {
    await client.end();
    throw error;
  }
  // Does not keep the process alive.
  (client.connection.stream as Socket).unref();
  return client;
}

/** A separate connection that probes whether the server is alive. */
export class ServerWatch {
  readonly #address: string;
  #client: pg.Client | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  /** Rejects if it is not; may never settle on a silent network. */
  async ask(): Promise<void> {
    const client = this.#client ?? new pg.Client(clientConfig(this.#address));
    if (this.#client === undefined) {
      client.on("error", () => undefined);
      this.#client = client;
      await client.connect();
      // Does not keep the process alive.
      (client.connection.stream as Socket).unref();
    }
    await client.query("SELECT 1");
  }

  end(): void {
    (this.#client?.connection.stream as Socket | undefined)?.destroy();
    this.#client = undefined;
  }
}

/** No answer to the first statement: nothing was committed. */
export class ServerSilent extends BackscrollError {
  constructor() {
    super(
      "store_unavailable",
      `the database server, or the pooler before it, has not answered within ${FIRST_ANSWER_MS} ms; try again later`,
      { details: { timeoutMs: FIRST_ANSWER_MS, retryAfterMs: 1_000 } },
    );
  }
}

function clientConfig(address: string): pg.ClientConfig {
  return {
    connectionString: address,
    fallback_application_name: "backscroll",
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser },
  };
}

/** The OID of `bigint`. Our integers are counts and milliseconds, far below 2^53. */
const BIGINT = 20;

const getTypeParser = ((oid: number, format?: "text" | "binary") =>
  oid === BIGINT
    ? Number
    : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;
