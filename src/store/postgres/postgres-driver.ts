/**
 * Connections to a PostgreSQL server, through `pg`.
 *
 * The few things that the rest of this folder uses, so that the driver stays replaceable. Statements
 * are pipelined: a list of them costs one round trip, however long it is.
 */

import type { Socket } from "node:net";
import pg from "pg";
import { BackscrollError } from "../../model/errors.ts";
import type { Row } from "../records.ts";
import { queueFull } from "../store-errors.ts";
import { BinaryCopy, type CopiedColumns } from "./binary-copy.ts";
import { isUnknownName } from "./postgres-errors.ts";
import { preparedName } from "./postgres-statements.ts";

export type Scalar = null | number | string | Uint8Array;
export type SqlValue = Scalar | readonly Scalar[];

/** A statement and its values, to be sent together with others. */
export interface Query {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Planned for these values, not once for all: right where the values decide which index helps. */
  readonly planned?: "each time";
  /** It is a `COPY … TO STDOUT (FORMAT binary)`, which takes no values, and answers with these. */
  readonly copied?: CopiedColumns;
}

export interface Answer {
  readonly rows: readonly Row[];
  /** The command that the server says it has carried out, such as `COMMIT`. */
  readonly command: string;
}

export interface PoolOptions {
  /** How many may wait for a connection. */
  readonly maxQueue: number;
  /** How long connecting, or waiting for a free connection, may take. */
  readonly connectTimeoutMs: number;
}

/** Connections of one store. A node needs few: a server has about a hundred for all its nodes. */
const MAX_CONNECTIONS = 10;
/** How long connecting to a primary, or waiting for a free connection to it, may take. */
export const CONNECT_TIMEOUT_MS = 10_000;

export function query(sql: string, ...values: readonly SqlValue[]): Query {
  return { sql, values };
}

/**
 * Whether statements are prepared under names. A pooler in transaction mode may give a connection to a
 * transaction that another client has prepared its statements on, or none: after the first such
 * failure statements have no names any more.
 */
interface StatementNaming {
  isUsed: boolean;
}

/** One connection. It belongs to its taker until it is given back. */
export class PostgresConnection {
  readonly #client: pg.PoolClient;
  #naming: StatementNaming;

  constructor(client: pg.PoolClient, naming: StatementNaming) {
    this.#client = client;
    this.#naming = naming;
  }

  /**
   * Sends all queries before it waits for the first answer. Rejects with the error of the first
   * query that failed: inside a transaction, those after it failed only because of it.
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
    // All of them are waited for: a connection with answers under way could not be given back.
    const outcomes = await Promise.allSettled(pending);
    return outcomes.map((outcome) => {
      if (outcome.status === "rejected") {
        if (isUnknownName(outcome.reason)) this.#naming.isUsed = false;
        throw outcome.reason;
      }
      return { rows: outcome.value.rows, command: outcome.value.command };
    });
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

  /** For a transaction that cannot be repeated: none of its statements can fail for its name. */
  dropNames(): void {
    this.#naming = { isUsed: false };
  }

  /** Returns the connection to the pool, or destroys it if its state is unknown. */
  giveBack(broken = false): void {
    this.#client.release(broken);
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
      // A host whose work is done may exit without closing the store.
      allowExitOnIdle: true,
    });
    // The pool replaces a dead idle connection on demand: ignore the event.
    this.#pool.on("error", () => undefined);
    // One that dies in use fails the statement under way, which tells its caller.
    this.#pool.on("connect", (client) => {
      client.on("error", () => undefined);
      this.#clients.add(client);
    });
    this.#pool.on("remove", (client) => this.#clients.delete(client));
  }

  /** A free connection, or a new one, or the first that others give back. */
  async take(): Promise<PostgresConnection> {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    // The pool queues a caller for a moment even when a connection is idle.
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

  /** Breaks all connections: what is under way on them fails at once. */
  cut(): void {
    for (const client of this.#clients) client.connection.stream.destroy();
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** A connection apart from the pool, for listening. `lost` is called once when it ends. */
export async function connectListener(
  address: string,
  channel: string,
  heard: () => void,
  lost: () => void,
): Promise<{ end(): Promise<void> }> {
  const client = new pg.Client({
    ...clientConfig(address),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
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
  // Listening alone does not keep the host alive.
  (client.connection.stream as Socket).unref();
  return client;
}

/** A connection apart from the pool, to ask now and then whether the server is still there. */
export class ServerWatch {
  readonly #address: string;
  #client: pg.Client | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  /** Rejects if it is not; may take for ever if the network is silent. */
  async ask(): Promise<void> {
    const client = this.#client ?? new pg.Client(clientConfig(this.#address));
    if (this.#client === undefined) {
      client.on("error", () => undefined);
      this.#client = client;
      await client.connect();
      // Watching alone does not keep the host alive.
      (client.connection.stream as Socket).unref();
    }
    await client.query("SELECT 1");
  }

  end(): void {
    (this.#client?.connection.stream as Socket | undefined)?.destroy();
    this.#client = undefined;
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

/** The type number of `bigint`. Our integers are counts and milliseconds, far below 2^53. */
const BIGINT = 20;

const getTypeParser = ((oid: number, format?: "text" | "binary") =>
  oid === BIGINT
    ? Number
    : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;
