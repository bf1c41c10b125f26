/**
 * Runs operations as transactions, each on its own connection.
 *
 * Caches tenant numbers by name: a tenant's number never changes.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { StoreOptions } from "../store.ts";
import { openForReading } from "../store-errors.ts";
import { Snapshots } from "./index/snapshots.ts";
import { parseAddress, publicAddress } from "./postgres-address.ts";
import { type PostgresConnection, PostgresPool } from "./postgres-driver.ts";
import { isConnectionLoss, isRetryable, translatePostgresError } from "./postgres-errors.ts";
import { READ_START, WRITE_START } from "./postgres-schema.ts";
import { statements } from "./postgres-statements.ts";
import { NO_TENANT, Transaction, type TransactionStart } from "./transaction.ts";

const SQL = statements("database", {
  tenantByName: `SELECT tenant FROM tenants WHERE name = $1`,
});

/** How often a transaction is run at most. */
const MAX_ATTEMPTS = 8;

type Body<Result> = (tx: Transaction) => Promise<Result>;

export class PostgresDatabase {
  /** The address without its password. */
  readonly address: string;
  readonly #pool: PostgresPool;
  readonly #readOnly: boolean;
  readonly #tenants = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(address: string, options: StoreOptions) {
    this.address = publicAddress(parseAddress(address));
    this.#readOnly = options.readOnly ?? false;
    this.#pool = new PostgresPool({
      address,
      durability: options.durability ?? "power-loss",
      maxQueue: options.maxQueue ?? 10_000,
      lockTimeoutMs: options.busyTimeoutMs ?? 30_000,
    });
  }

  /** Runs `body` as one write transaction of a tenant. */
  write<Result>(tenant: string, body: Body<Result>): Promise<Result> {
    return this.#run(async () => {
      this.#refuseReadOnly();
      return retried(() => this.#writeOnce(tenant, body));
    });
  }

  /** Runs `body` on what a tenant holds at one moment. */
  read<Result>(tenant: string, body: Body<Result>): Promise<Result> {
    return this.#run(() =>
      retried(async () => {
        const number = await this.#tenantNumber(tenant);
        return this.#transaction(READ_START, tenant, number, body);
      }),
    );
  }

  /**
   * Runs `body` on several moments of a tenant, one after the other. `again`: it may be repeated as
   * a whole when a connection breaks.
   */
  snapshots<Result>(
    tenant: string,
    { again }: { readonly again: boolean },
    body: (snapshots: Snapshots) => Promise<Result>,
  ): Promise<Result> {
    const once = async () => {
      const snapshots = new Snapshots(this.#pool, tenant, await this.#tenantNumber(tenant));
      try {
        return await body(snapshots);
      } catch (error) {
        throw isConnectionLoss(error) ? new Unfinished(error) : error;
      } finally {
        // No need to await the end of a read.
        void this.#track(snapshots.end());
      }
    };
    return this.#run(() => (again ? retried(once) : once()));
  }

  /**
   * One transaction over the rows of all tenants, which `body` enters one by one, or of none. `again`:
   * it may be run once more if its connection breaks before the commit.
   */
  across<Result>(
    start: TransactionStart,
    { again }: { readonly again: boolean },
    body: Body<Result>,
  ): Promise<Result> {
    const once = () => this.#transaction(start, "", NO_TENANT, body);
    return this.#run(async () => {
      if (start !== READ_START) this.#refuseReadOnly();
      return again ? retried(once) : once();
    });
  }

  /** Like `across`, for a body that gives out one piece after the other. */
  async *pieces<Piece>(
    start: TransactionStart,
    body: (tx: Transaction) => AsyncIterable<Piece>,
  ): AsyncGenerator<Piece> {
    const connection = await this.#run(() => this.#pool.take());
    const tx = new Transaction(connection, start, "", NO_TENANT);
    try {
      yield* body(tx);
    } catch (error) {
      throw translatePostgresError(error, this.address);
    } finally {
      await this.#track(end(tx, "COMMIT", connection));
    }
  }

  /** Uses a connection without a transaction, for idempotent operations outside of tenants. */
  plain<Result>(use: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    return this.#run(() => retried(() => this.#use(use)));
  }

  /** Waits for operations in progress. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Operations in progress may add an ending.
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    await this.#pool.close();
  }

  async #run<Result>(action: () => Promise<Result>): Promise<Result> {
    if (this.#closed) {
      throw new BackscrollError("store_closed", "the store is closed; open it again");
    }
    try {
      return await this.#track(action());
    } catch (error) {
      const reason = error instanceof Unfinished ? error.cause : error;
      throw translatePostgresError(reason, this.address);
    }
  }

  async #track<Result>(running: Promise<Result>): Promise<Result> {
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #writeOnce<Result>(name: string, body: Body<Result>): Promise<Result> {
    const number = await this.#tenantNumber(name);
    return this.#transaction(WRITE_START, name, number, async (tx) => {
      const value = await body(tx);
      if (!tx.ended) await tx.commit();
      // Known only now: a rollback would have taken a new tenant back.
      if (tx.tenant !== NO_TENANT) this.#tenants.set(name, tx.tenant);
      return value;
    });
  }

  async #transaction<Result>(
    start: TransactionStart,
    name: string,
    tenant: number,
    body: Body<Result>,
  ): Promise<Result> {
    const connection = await this.#pool.take();
    const tx = new Transaction(connection, start, name, tenant);
    let how: "COMMIT" | "ROLLBACK" = "ROLLBACK";
    try {
      const value = await body(tx);
      how = "COMMIT";
      return value;
    } catch (error) {
      throw isConnectionLoss(error) && !tx.commitSent ? new Unfinished(error) : error;
    } finally {
      // No need to await the end of a read or of a failed write.
      void this.#track(end(tx, how, connection));
    }
  }

  async #tenantNumber(name: string): Promise<number> {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    const [row] = await this.#use((connection) => connection.all(SQL.tenantByName, name));
    if (row === undefined) return NO_TENANT;
    const number = Number(row["tenant"]);
    this.#tenants.set(name, number);
    return number;
  }

  async #use<Result>(use: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#pool.take();
    try {
      return await use(connection);
    } catch (error) {
      throw isConnectionLoss(error) ? new Unfinished(error) : error;
    } finally {
      connection.giveBack();
    }
  }

  #refuseReadOnly(): void {
    if (this.#readOnly) throw openForReading();
  }
}

/** The connection broke before COMMIT was sent: the transaction can be retried. */
class Unfinished extends Error {
  constructor(cause: unknown) {
    super("the connection broke before the commit", { cause });
  }
}

/** Runs a transaction again that met another one, or whose connection had died while it was idle. */
async function retried<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      const again = error instanceof Unfinished || isRetryable(error);
      if (attempt === MAX_ATTEMPTS || !again) throw error;
      // Retry with jitter, so that the same transactions do not collide again.
      await pause(Math.random() * 2 ** attempt);
    }
  }
}

async function end(
  tx: Transaction,
  how: "COMMIT" | "ROLLBACK",
  connection: PostgresConnection,
): Promise<void> {
  try {
    if (!tx.ended) await tx.end(how);
    connection.giveBack();
  } catch {
    // A connection that cannot end its transaction must not be used again; the server ends both.
    connection.giveBack(true);
  }
}
