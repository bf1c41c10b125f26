/**
 * Runs operations as transactions, each on its own connection.
 *
 * Caches tenant numbers by name. A tenant's number never changes on one server; a switch to another
 * server clears the cache.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { StoreLoss } from "../../model/store-loss.ts";
import type { ConnectionFigures, StoreOptions } from "../store.ts";
import { openForReading } from "../store-errors.ts";
import { warnOfLoss } from "../store-options.ts";
import { FeedMarks } from "./fleet/feed-marks.ts";
import { PostgresServers } from "./fleet/servers.ts";
import { Snapshots } from "./index/snapshots.ts";
import { parseAddress, type Role } from "./postgres-address.ts";
import { CONNECT_TIMEOUT_MS, type PostgresConnection, ServerSilent } from "./postgres-driver.ts";
import {
  isConnectionLoss,
  isOtherServer,
  isRetryable,
  translatePostgresError,
} from "./postgres-errors.ts";
import { READ_START, WRITE_START } from "./postgres-schema.ts";
import {
  NO_TENANT,
  TENANT_BY_NAME,
  Transaction,
  type TransactionSettings,
  type TransactionStart,
} from "./transaction.ts";

/** The limit of attempts of a transaction. */
const MAX_ATTEMPTS = 8;
/** After this the read uses the primary. */
const FOLLOWER_CONNECT_MS = 2_000;

type Body<Result> = (tx: Transaction) => Promise<Result>;

export class PostgresDatabase {
  /** The address without its password. */
  readonly address: string;
  /** The feed positions that this process has written or read. */
  readonly marks: FeedMarks = new FeedMarks();
  readonly #servers: PostgresServers;
  #retries = 0;
  readonly #settings: TransactionSettings;
  readonly #onLoss: (loss: StoreLoss) => void;
  readonly #readOnly: boolean;
  readonly #attempts: number;
  /** Tenant numbers by name, on the server in use. */
  readonly #tenants = new Map<string, number>();
  readonly #switchListeners = new Set<() => void>();
  #losses: StoreLoss[] = [];
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  /** A follower makes one attempt: the router then tries the primary. */
  constructor(address: string, options: StoreOptions, role: "primary" | "follower" = "primary") {
    const { hosts, role: wanted, shown } = parseAddress(address);
    this.address = shown;
    this.#readOnly = options.readOnly ?? false;
    this.#attempts = role === "follower" ? 1 : MAX_ATTEMPTS;
    this.#settings = {
      durability: options.durability ?? "power-loss",
      lockTimeoutMs: options.busyTimeoutMs ?? 30_000,
    };
    this.#onLoss = options.onLoss ?? warnOfLoss;
    this.#servers = new PostgresServers({
      hosts,
      role: this.#readOnly ? (wanted ?? "any") : writerRole(wanted, hosts.length),
      patienceMs: Math.min(CONNECT_TIMEOUT_MS, this.#settings.lockTimeoutMs),
      marks: this.marks,
      onSwitch: (lost) => this.#switched(lost),
      maxQueue: options.maxQueue ?? 10_000,
      connectTimeoutMs: role === "follower" ? FOLLOWER_CONNECT_MS : CONNECT_TIMEOUT_MS,
    });
  }

  /** Incremented by each switch to another server, or to another run of the same one. */
  connections(): ConnectionFigures {
    return { ...this.#servers.figures, retries: this.#retries };
  }

  get switches(): number {
    return this.#servers.switches;
  }

  /** Changes that this process had seen and a failover lost. */
  get losses(): readonly StoreLoss[] {
    return this.#losses;
  }

  acceptLosses(): readonly StoreLoss[] {
    const accepted = this.#losses;
    this.#losses = [];
    return accepted;
  }

  /** Calls `listener` before the first statement on another server: caches may be wrong there. */
  onSwitch(listener: () => void): void {
    this.#switchListeners.add(listener);
  }

  /** The address of the server in use. */
  host(): Promise<string> {
    return this.#servers.host();
  }

  /** Runs `body` as one write transaction of a tenant. */
  write<Result>(tenant: string, body: Body<Result>): Promise<Result> {
    return this.#run(async () => {
      this.#refuseReadOnly();
      return this.#retried(() => this.#writeOnce(tenant, body));
    });
  }

  /** Runs `body` on a snapshot of a tenant. */
  read<Result>(tenant: string, body: Body<Result>): Promise<Result> {
    return this.#run(() =>
      this.#retried(async () => {
        const server = await this.#servers.server();
        const number = await this.#tenantNumber(tenant);
        return this.#transaction(READ_START, tenant, number, server, body);
      }),
    );
  }

  /**
   * Runs `body` on consecutive snapshots of a tenant. `again`: it may be repeated as a whole when a
   * connection breaks.
   */
  snapshots<Result>(
    tenant: string,
    { again }: { readonly again: boolean },
    body: (snapshots: Snapshots) => Promise<Result>,
  ): Promise<Result> {
    const once = async () => {
      const server = await this.#servers.server();
      const number = await this.#tenantNumber(tenant);
      const snapshots = new Snapshots(number, async () => {
        const connection = await this.#servers.take();
        const tx = this.#begin(connection, READ_START, tenant, number, server);
        return { tx, connection };
      });
      try {
        return await body(snapshots);
      } catch (error) {
        throw this.#isServerGone(error) ? new Unfinished(error) : error;
      } finally {
        // The end of a read need not be awaited.
        void this.#track(snapshots.end());
      }
    };
    return this.#run(() => (again ? this.#retried(once) : once()));
  }

  /**
   * One transaction over the rows of all tenants, which `body` enters one by one, or of none.
   * `again`: it may be repeated if its connection breaks before the commit.
   */
  across<Result>(
    start: TransactionStart,
    { again }: { readonly again: boolean },
    body: Body<Result>,
  ): Promise<Result> {
    const once = async () => {
      const server = await this.#servers.server();
      return this.#transaction(start, "", NO_TENANT, server, body, again);
    };
    return this.#run(async () => {
      if (start !== READ_START) this.#refuseReadOnly();
      return again ? this.#retried(once) : once();
    });
  }

  /** As `across`, for a generator. */
  async *pieces<Piece>(
    start: TransactionStart,
    body: (tx: Transaction) => AsyncIterable<Piece>,
  ): AsyncGenerator<Piece> {
    const server = await this.#run(() => this.#servers.server());
    const connection = await this.#run(() => this.#servers.take());
    connection.dropNames();
    const tx = this.#begin(connection, start, "", NO_TENANT, server);
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
    return this.#run(() => this.#retried(() => this.#use(use)));
  }

  /** Waits for operations in progress. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Operations in progress may add further ones.
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    await this.#servers.close();
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
    const server = await this.#servers.server();
    const { switches } = this;
    const number = await this.#tenantNumber(name);
    return this.#transaction(WRITE_START, name, number, server, async (tx) => {
      const value = await body(tx);
      if (!tx.ended) await tx.commit();
      // Cached only now: a rollback would undo a new tenant.
      if (tx.tenant !== NO_TENANT && switches === this.switches) this.#tenants.set(name, tx.tenant);
      this.marks.note(name, tx.feedPosition);
      return value;
    });
  }

  async #transaction<Result>(
    start: TransactionStart,
    name: string,
    tenant: number,
    server: string,
    body: Body<Result>,
    again = true,
  ): Promise<Result> {
    const connection = await this.#servers.take();
    if (!again) connection.dropNames();
    const tx = this.#begin(connection, start, name, tenant, server);
    let how: "COMMIT" | "ROLLBACK" = "ROLLBACK";
    try {
      const value = await body(tx);
      how = "COMMIT";
      return value;
    } catch (error) {
      throw this.#isServerGone(error) && !tx.commitSent ? new Unfinished(error) : error;
    } finally {
      // The end of a read or of a failed write need not be awaited.
      void this.#track(end(tx, how, connection));
    }
  }

  #begin(
    connection: PostgresConnection,
    start: TransactionStart,
    name: string,
    tenant: number,
    server: string,
  ): Transaction {
    return new Transaction(connection, start, name, tenant, server, this.#settings);
  }

  async #tenantNumber(name: string): Promise<number> {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    const { switches } = this;
    const [row] = await this.#use((connection) => connection.all(TENANT_BY_NAME, name));
    if (row === undefined) return NO_TENANT;
    const number = Number(row["tenant"]);
    if (switches === this.switches) this.#tenants.set(name, number);
    return number;
  }

  async #use<Result>(use: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#servers.take();
    try {
      return await use(connection);
    } catch (error) {
      throw this.#isServerGone(error) ? new Unfinished(error) : error;
    } finally {
      connection.giveBack();
    }
  }

  /** If so, all servers are probed before the next transaction. */
  #isServerGone(error: unknown): boolean {
    const isSilent = error instanceof ServerSilent;
    const isGone = isConnectionLoss(error) || isOtherServer(error);
    if (isGone || isSilent) this.#servers.suspect();
    // A single server that is silent would be as silent to a retry.
    return isGone || (isSilent && this.#servers.hasOthers);
  }

  /** Clears the cache: on the new server a number may belong to another tenant. */
  #switched(lost: ReadonlyMap<string, number>): void {
    this.#tenants.clear();
    for (const listener of this.#switchListeners) listener();
    if (lost.size === 0) return;
    this.marks.clear();
    const foundAt = Date.now();
    for (const [tenant, changes] of lost) {
      const loss: StoreLoss = { kind: "failover", foundAt, tenant, changes };
      this.#losses.push(loss);
      this.#onLoss(loss);
    }
  }

  /** Retries a transaction that conflicted with another one, or whose idle connection had died. */
  async #retried<Result>(transaction: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await transaction();
      } catch (error) {
        const again = error instanceof Unfinished || isRetryable(error);
        if (attempt >= this.#attempts || !again) throw error;
        this.#retries++;
        // Retry with jitter, so that the same transactions do not collide again.
        await pause(Math.random() * 2 ** attempt);
      }
    }
  }

  #refuseReadOnly(): void {
    if (this.#readOnly) throw openForReading();
  }
}

/** A writable store needs the primary; a single host is assumed to be it. */
function writerRole(wanted: Role | undefined, hosts: number): Role {
  if (wanted === "standby" || wanted === "prefer-standby" || (wanted === "any" && hosts > 1)) {
    throw new BackscrollError(
      "invalid_address",
      "a store that is written needs target_session_attrs=read-write; open it with readOnly to read from a standby",
      { details: { field: "target_session_attrs" } },
    );
  }
  return "primary";
}

/** The connection broke before COMMIT was sent: the transaction can be retried. */
class Unfinished extends Error {
  constructor(cause: unknown) {
    super("the connection broke before the commit", { cause });
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
