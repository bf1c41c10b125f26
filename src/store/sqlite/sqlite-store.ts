/** The store on SQLite: one file, many processes. */

import { BackscrollError } from "../../model/errors.ts";
import type { StoreLoss } from "../../model/store-loss.ts";
import type { MaintenanceReport } from "../../search/port.ts";
import { BaseStore } from "../base-store.ts";
import type { IndexStatus } from "../index/index-status.ts";
import { type IndexSetting, publicSetting } from "../index/stored-indexing.ts";
import { Indexer } from "../indexer.ts";
import type { TenantRead, TenantWrite } from "../operations.ts";
import type { RowBatch, StoreStatus } from "../records.ts";
import type { Store } from "../store.ts";
import { openForReading } from "../store-errors.ts";
import { MEMORY } from "../store-options.ts";
import { dumpRows, loadRows } from "./dump.ts";
import { closeAll, type Executor, type ExecutorOptions } from "./executor/executor.ts";
import { readSetting, writeSetting } from "./index/setting.ts";
import { listKeptLosses } from "./opening/kept-logs.ts";
import { acceptLosses, type OpenedFile, withoutBusy } from "./opening/open-file.ts";
import type { SqliteConnection } from "./sqlite-driver.ts";
import { isEntryTaken } from "./sqlite-errors.ts";
import { connect } from "./sqlite-schema.ts";

export class SqliteStore extends BaseStore implements Store {
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #busyTimeoutMs: number;
  readonly #executor: Executor;
  protected readonly indexer: Indexer;
  /** Undefined in memory. */
  readonly #opened: OpenedFile | undefined;
  protected readonly signal: CommitSignal;
  #closed = false;

  /** `flushAt` 0: the index is maintained only on request. */
  constructor(executor: Executor, options: ExecutorOptions, flushAt: number, opened?: OpenedFile) {
    super();
    this.#executor = executor;
    const store = {
      maintenance: (tenant: string, unreadable: readonly number[]) =>
        executor.maintain(tenant, "maintain", unreadable),
      flush: (tenant: string) => executor.maintain(tenant, "flush", []),
      lag: (tenant: string) => executor.read("indexLag", [tenant]),
      stop: () => executor.stopMaintenance(),
    };
    this.indexer = new Indexer(store, { flushAt, shortLived: executor.inThread });
    this.signal = new CommitSignal(() => executor.read("dataVersion", []));
    this.#opened = opened;
    this.#path = options.path;
    this.#readOnly = options.readOnly;
    this.#busyTimeoutMs = options.busyTimeoutMs;
  }

  takeLease: Store["takeLease"] = (name, owner, durationMs) =>
    this.notified(this.#open().write("takeLease", [name, owner, durationMs]));

  dropLease: Store["dropLease"] = (name, owner) =>
    this.notified(this.#open().write("dropLease", [name, owner]));

  /** Sweeps one tenant or all. It mostly deletes, so it triggers no index maintenance. */
  sweep: Store["sweep"] = (request) => this.notified(this.#open().write("sweep", [request]));

  findToken: Store["findToken"] = async (id) => this.#open().read("findToken", [id]);

  feedHead: Store["feedHead"] = async (tenant, position) =>
    this.#open().read("feedHead", [tenant, position]);

  listTenants: Store["listTenants"] = async () => this.#open().read("listTenants", []);

  checkIntegrity: Store["checkIntegrity"] = async () => this.#open().read("checkIntegrity", []);

  status: Store["status"] = async () => this.#withLosses(await this.#open().read("status", []));

  async maintain(...[tenant, task]: Parameters<Store["maintain"]>): Promise<MaintenanceReport> {
    return this.#open().maintain(tenant, task, this.indexer.unreadable(tenant));
  }

  async indexSetting(): Promise<IndexSetting> {
    this.#open();
    return this.#onConnection((db) => publicSetting(readSetting(db, {})));
  }

  async setIndexing(change: Partial<IndexSetting>): Promise<IndexSetting> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    return withoutBusy(this.#busyTimeoutMs, () =>
      this.#onConnection((db) => {
        writeSetting(db, { ...readSetting(db, {}), ...change });
        return publicSetting(readSetting(db, {}));
      }),
    );
  }

  /** Uses a separate connection, except for an in-memory store, which has only one. */
  #onConnection<Result>(use: (db: SqliteConnection) => Result): Result {
    const { only } = this.#executor;
    if (only !== undefined) return use(only);
    const db = connect(this.#opened?.options.path ?? this.#path, {
      readOnly: this.#readOnly,
    });
    try {
      return use(db);
    } finally {
      db.close();
    }
  }

  async acceptLosses(): Promise<readonly StoreLoss[]> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    return this.#path === MEMORY ? [] : acceptLosses(this.#path, this.#busyTimeoutMs);
  }

  onChange: Store["onChange"] = (listener) => this.signal.onChange(listener);

  async *dump(): AsyncGenerator<RowBatch> {
    this.#open();
    yield* dumpRows(this.#dumpSource());
  }

  async load(batches: Parameters<Store["load"]>[0]): Promise<void> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    const target = this.#dumpSource();
    await loadRows(target, batches, (begin) => withoutBusy(this.#busyTimeoutMs, begin));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.signal.close();
    await closeAll(
      () => this.indexer.close(),
      () => this.#executor.close(),
      () => this.#opened?.release(),
    );
  }

  /** Adds losses that the database does not record: kept logs, and those found when it was opened. */
  #withLosses(status: StoreStatus): StoreStatus {
    if (this.#opened === undefined) return status;
    const { path, unrecorded } = this.#opened;
    const losses = [...listKeptLosses(path), ...unrecorded, ...status.losses];
    return { ...status, address: path, losses };
  }

  /** An in-memory store has one connection; a file is read in pieces on a separate one. */
  #dumpSource(): string | SqliteConnection {
    return this.#executor.only ?? this.#path;
  }

  #open(): Executor {
    if (!this.#closed) return this.#executor;
    throw new BackscrollError("store_closed", "the store is closed; open it again");
  }

  protected async callWrite(name: TenantWrite, args: readonly unknown[]): Promise<unknown> {
    return this.#open().write(name, args as never);
  }

  protected async callRead(name: TenantRead, args: readonly unknown[]): Promise<unknown> {
    return this.#open().read(name, args as never);
  }

  protected async readIndexStatus(tenant: string): Promise<IndexStatus> {
    return this.#open().read("indexStatus", [tenant]);
  }

  protected async searchIndex(
    ...search: Parameters<Executor["search"]>
  ): ReturnType<Executor["search"]> {
    return this.#open().search(...search);
  }

  protected isEntryTaken(error: unknown): boolean {
    return isEntryTaken(error);
  }

  protected async purgeDeleted(tenant: string): Promise<boolean> {
    if (!(await this.#open().read("hasDeleted", [tenant]))) return false;
    while (await this.#open().write("purgeBatch", [tenant]));
    return true;
  }
}

/** Change notification: commits of this process signal at once, those of others by polling. */

/** Poll interval for commits of other processes while there are listeners. */
const POLL_MS = 50;

class CommitSignal {
  readonly #readVersion: () => Promise<unknown>;
  readonly #listeners = new Set<() => void>();
  #poll: NodeJS.Timeout | undefined;
  #seenVersion: unknown;
  #closed = false;

  /** `readVersion` reads SQLite's `data_version`, which changes with the commits of other connections. */
  constructor(readVersion: () => Promise<unknown>) {
    this.#readVersion = readVersion;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#poll ??= setInterval(() => void this.#look(), POLL_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  committed(): void {
    for (const listener of this.#listeners) listener();
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    const version = await this.#readVersion().catch((error: unknown) => error);
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.committed();
  }
}
