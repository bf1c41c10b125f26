/** The store on SQLite: one file, many processes. */

import { BackscrollError } from "../../model/errors.ts";
import type { StoreLoss } from "../../model/store-loss.ts";
import type { MaintenanceReport } from "../../search/port.ts";
import type {
  IndexAnswer,
  IndexRequest,
  NoteSearchAnswer,
  SearchAnswer,
} from "../../search/request.ts";
import {
  describeConflict,
  firstSetting,
  type IndexSetting,
  warnOfConflict,
} from "../index/stored-indexing.ts";
import { bytesOf, changesOf, flushAtOf, Indexer } from "../indexer.ts";
import type { RowBatch, StoreStatus } from "../records.ts";
import type { Store, StoreOptions, StoreReads, StoreWrites } from "../store.ts";
import { openForReading } from "../store-errors.ts";
import { closeAll } from "./close-all.ts";
import { dumpRows, loadRows } from "./dump.ts";
import type { Executor, ExecutorOptions } from "./executor.ts";
import { InThread } from "./in-thread.ts";
import { readSetting, settleSetting, writeSetting } from "./index/setting.ts";
import { listKeptLosses } from "./opening/kept-logs.ts";
import { acceptLosses, type OpenedFile, openFile, withoutBusy } from "./opening/open-file.ts";
import { warnOfLoss } from "./opening/warn-of-loss.ts";
import { READS, WRITES, type WriteName } from "./operations/index.ts";
import { SqliteConnection } from "./sqlite-driver.ts";
import { MEMORY, prepareFile } from "./sqlite-file.ts";
import { migrate } from "./sqlite-schema.ts";
import { Threads } from "./threads.ts";

/** How often to look for commits of other processes while somebody subscribes. */
const POLL_MS = 50;

export async function openSqliteStore(path: string, options: StoreOptions = {}): Promise<Store> {
  const readOnly = options.readOnly ?? false;
  const file = prepareFile(path, { create: (options.create ?? true) && !readOnly, readOnly });
  const executorOptions: ExecutorOptions = {
    path: file,
    durability: options.durability ?? "power-loss",
    readOnly,
    busyTimeoutMs: options.busyTimeoutMs ?? 30_000,
    maxQueue: options.maxQueue ?? 10_000,
    indexing: options.indexing ?? {},
    searchThread: options.searchThread ?? false,
  };
  const flushAt = flushAtOf(options);
  if (file === MEMORY) {
    const executor = new InThread(executorOptions);
    migrate(executor.connection);
    settleSetting(executor.connection, executorOptions.indexing);
    return new SqliteStore(executor, executorOptions, flushAt);
  }
  const opened = await openFile(executorOptions);
  try {
    const conflict = describeConflict(
      executorOptions.indexing,
      firstSetting(opened.options.indexing),
    );
    if (conflict !== undefined) (options.onWarning ?? warnOfConflict)(conflict);
    for (const loss of opened.losses) (options.onLoss ?? warnOfLoss)(loss);
    const executor = startExecutor(opened.options, options.inThread ?? false);
    return new SqliteStore(executor, opened.options, flushAt, opened);
  } catch (error) {
    opened.release();
    throw error;
  }
}

function startExecutor(options: ExecutorOptions, inThread: boolean): Executor {
  if (inThread) return new InThread(options);
  try {
    return new Threads(options);
  } catch {
    // Some hosts allow no worker threads. The store works without, at the host's own cost.
    return new InThread(options);
  }
}

type Operation = (...args: never[]) => Promise<unknown>;

/** No tenant comes first here. A sweep may be of all, and mostly takes away. */
const STORE_WIDE: readonly WriteName[] = ["sweep", "takeLease", "dropLease"];

/** Called after each write; what it gives is waited for before the write is acknowledged. */
type Written = (name: WriteName, args: readonly unknown[]) => Promise<void> | undefined;

/** Each method of the port sends its name and its arguments to the executor. */
function operations(executor: () => Executor, written: Written): StoreWrites & StoreReads {
  const methods: Record<string, Operation> = {};
  for (const name of Object.keys(WRITES) as (keyof typeof WRITES)[]) {
    methods[name] = async (...args) => {
      const value = await executor().write(name, args);
      await written(name, args);
      return value;
    };
  }
  for (const name of Object.keys(READS) as (keyof typeof READS)[]) {
    methods[name] = async (...args) => executor().read(name, args);
  }
  return methods as unknown as StoreWrites & StoreReads;
}

const SqliteOperations = class {
  constructor(executor: () => Executor, written: Written) {
    Object.assign(this, operations(executor, written));
  }
} as unknown as new (
  executor: () => Executor,
  written: Written,
) => StoreWrites & StoreReads;

export class SqliteStore extends SqliteOperations implements Store {
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #busyTimeoutMs: number;
  readonly #executor: Executor;
  readonly #indexer: Indexer;
  /** Undefined in memory. */
  readonly #opened: OpenedFile | undefined;
  readonly #listeners = new Set<() => void>();
  #closed = false;
  #poll: NodeJS.Timeout | undefined;
  #seenVersion: unknown;

  /** `flushAt` 0: the index is kept only when somebody asks for it. */
  constructor(executor: Executor, options: ExecutorOptions, flushAt: number, opened?: OpenedFile) {
    super(
      () => this.#open(),
      (name, args) => this.#written(name, args),
    );
    this.#executor = executor;
    const store = {
      upkeep: (tenant: string, unreadable: readonly number[]) =>
        executor.maintain(tenant, "upkeep", unreadable),
      flush: (tenant: string) => executor.maintain(tenant, "flush", []),
      lag: (tenant: string) => executor.read("indexLag", [tenant]) as Promise<number>,
      stop: () => executor.stopMaintenance(),
    };
    this.#indexer = new Indexer(store, { flushAt, shortLived: executor instanceof InThread });
    this.#opened = opened;
    const { indexStatus, status } = this;
    this.status = async () => this.#withLosses(await status());
    this.indexStatus = async (tenant) => {
      const failure = this.#indexer.failure(tenant);
      return { ...(await indexStatus(tenant)), ...(failure === undefined ? {} : { failure }) };
    };
    this.#path = options.path;
    this.#readOnly = options.readOnly;
    this.#busyTimeoutMs = options.busyTimeoutMs;
  }

  async search(...[tenant, request, signal]: Parameters<Store["search"]>): Promise<SearchAnswer> {
    return (await this.#search(tenant, request, signal)) as SearchAnswer;
  }

  async searchNotes(
    ...[tenant, request]: Parameters<Store["searchNotes"]>
  ): Promise<NoteSearchAnswer> {
    return (await this.#search(tenant, request)) as NoteSearchAnswer;
  }

  async #search(tenant: string, request: IndexRequest, signal?: AbortSignal): Promise<IndexAnswer> {
    const answer = await this.#open().search(tenant, request, signal);
    this.#indexer.found(tenant, answer.unreadable, "lag" in answer ? answer.lag : 0);
    return answer;
  }

  async maintain(...[tenant, task]: Parameters<Store["maintain"]>): Promise<MaintenanceReport> {
    return this.#open().maintain(tenant, task, this.#indexer.unreadable(tenant));
  }

  async indexSetting(): Promise<IndexSetting> {
    this.#open();
    return this.#onConnection((db) => readSetting(db, {}));
  }

  async setIndexing(change: Partial<IndexSetting>): Promise<IndexSetting> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    return withoutBusy(this.#busyTimeoutMs, () =>
      this.#onConnection((db) => {
        writeSetting(db, { ...readSetting(db, {}), ...change });
        return readSetting(db, {});
      }),
    );
  }

  /** A connection of its own, but to a store in memory, which has only one. */
  #onConnection<Result>(use: (db: SqliteConnection) => Result): Result {
    if (this.#executor instanceof InThread && this.#path === MEMORY) {
      return use(this.#executor.connection);
    }
    const db = new SqliteConnection(this.#opened?.options.path ?? this.#path, {
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

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#poll === undefined) this.#startPolling();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopPolling();
    };
  }

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
    this.#stopPolling();
    await closeAll(
      () => this.#indexer.close(),
      () => this.#executor.close(),
      () => this.#opened?.release(),
    );
  }

  /** What the database itself does not know: the files beside it, and where it was copied from. */
  #withLosses(status: StoreStatus): StoreStatus {
    if (this.#opened === undefined) return status;
    const { path, unrecorded } = this.#opened;
    const losses = [...listKeptLosses(path), ...unrecorded, ...status.losses];
    return { ...status, address: path, losses };
  }

  /** What lives in memory has but one connection; a file is read on another one, bit by bit. */
  #dumpSource(): string | SqliteConnection {
    const inMemory = this.#path === MEMORY && this.#executor instanceof InThread;
    return inMemory ? this.#executor.connection : this.#path;
  }

  #open(): Executor {
    if (!this.#closed) return this.#executor;
    throw new BackscrollError("store_closed", "the store is closed; open it again");
  }

  #startPolling(): void {
    this.#poll = setInterval(() => void this.#look(), POLL_MS);
    this.#poll.unref();
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    const version = await this.#executor.read("dataVersion", []).catch((error: unknown) => error);
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.#tell();
  }

  #written(name: WriteName, args: readonly unknown[]): Promise<void> | undefined {
    this.#tell();
    return STORE_WIDE.includes(name)
      ? undefined
      : this.#indexer.wrote(args[0] as string, changesOf(name, args), bytesOf(name, args));
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
