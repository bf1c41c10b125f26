/** The store on SQLite: one file, many processes. */

import { BackscrollError } from "../../model/errors.ts";
import type { RowBatch } from "../records.ts";
import type { Store, StoreOptions, StoreReads, StoreWrites } from "../store.ts";
import { openForReading } from "../store-errors.ts";
import { dumpRows, loadRows } from "./dump.ts";
import type { Executor, ExecutorOptions } from "./executor.ts";
import { InThread } from "./in-thread.ts";
import { READS, WRITES } from "./operations/index.ts";
import { SqliteConnection } from "./sqlite-driver.ts";
import { isBusy } from "./sqlite-errors.ts";
import { MEMORY, prepareFile } from "./sqlite-file.ts";
import { checkVersion, migrate, refuseForeign } from "./sqlite-schema.ts";
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
  };
  if (file === MEMORY) {
    const executor = new InThread(executorOptions);
    migrate(executor.connection);
    return new SqliteStore(executor, executorOptions);
  }
  await withoutBusy(executorOptions.busyTimeoutMs, () => makeReady(file, readOnly));
  const executor = startExecutor(executorOptions, options.inThread ?? false);
  return new SqliteStore(executor, executorOptions);
}

/** Checks or brings up to date the schema, on a connection of its own. */
function makeReady(file: string, readOnly: boolean): void {
  const db = new SqliteConnection(file, { readOnly });
  try {
    if (readOnly) refuseForeign(db);
    else migrate(db);
    checkVersion(db, readOnly ? "read" : "write");
  } finally {
    db.close();
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

/** Opening takes locks, too: several processes may create or migrate one file at once. */
async function withoutBusy(timeoutMs: number, action: () => void): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 5));
    }
  }
}

type Operation = (...args: never[]) => Promise<unknown>;

/** Each method of the port sends its name and its arguments to the executor. */
function operations(executor: () => Executor, written: () => void): StoreWrites & StoreReads {
  const methods: Record<string, Operation> = {};
  for (const name of Object.keys(WRITES) as (keyof typeof WRITES)[]) {
    methods[name] = async (...args) => {
      const value = await executor().write(name, args);
      written();
      return value;
    };
  }
  for (const name of Object.keys(READS) as (keyof typeof READS)[]) {
    methods[name] = async (...args) => executor().read(name, args);
  }
  return methods as unknown as StoreWrites & StoreReads;
}

const SqliteOperations = class {
  constructor(executor: () => Executor, written: () => void) {
    Object.assign(this, operations(executor, written));
  }
} as unknown as new (
  executor: () => Executor,
  written: () => void,
) => StoreWrites & StoreReads;

export class SqliteStore extends SqliteOperations implements Store {
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #busyTimeoutMs: number;
  readonly #executor: Executor;
  readonly #listeners = new Set<() => void>();
  #closed = false;
  #poll: NodeJS.Timeout | undefined;
  #seenVersion: unknown;

  constructor(executor: Executor, options: ExecutorOptions) {
    super(
      () => this.#open(),
      () => this.#tell(),
    );
    this.#executor = executor;
    this.#path = options.path;
    this.#readOnly = options.readOnly;
    this.#busyTimeoutMs = options.busyTimeoutMs;
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
    await this.#executor.close();
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

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
