/**
 * SQLite on two threads: one writes, one reads. A third, the indexer, starts on demand, and for
 * hosts with many callers one or two that search.
 *
 * So an fsync, a wait for another process's lock or a long read never stalls the host's event loop.
 * The threads keep the process alive only while requests are pending. A small write that finds the
 * writer idle runs on the host's thread: see `host-writer.ts`.
 */

import { existsSync } from "node:fs";
import module from "node:module";
import { dirname } from "node:path";
import { getHeapStatistics } from "node:v8";
import { type ResourceLimits, Worker } from "node:worker_threads";
import { BackscrollError } from "../../../model/errors.ts";
import type { MaintenanceReport, MaintenanceTask } from "../../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import { SearchTurns } from "../../index/search-turns.ts";
import type { AppendRequest } from "../../records.ts";
import { openForReading, queueFull } from "../../store-errors.ts";
import type { ReadName, SqliteReads, SqliteWrites, WriteName } from "../operations/index.ts";
import { type AnswerParcel, unpackAnswer } from "./answer-parcel.ts";
import { packAppend } from "./append-parcel.ts";
import { closeAll, type Executor, type ExecutorOptions, type OnUnmerged } from "./executor.ts";
import { HostWriter, isSmallWrite } from "./host-writer.ts";
import {
  CHECKPOINT,
  CLOSE,
  fromFailure,
  MAINTAIN,
  type Replies,
  type Reply,
  type Request,
  type RequestName,
  type Requests,
  SEARCH,
  STOP,
  type ThreadData,
} from "./thread-messages.ts";

export class Threads implements Executor {
  readonly only = undefined;
  readonly inThread = false;
  readonly #options: ExecutorOptions;
  readonly #onUnmerged: OnUnmerged;
  #writing: Thread | undefined;
  readonly #reader: Thread;
  #indexer: Thread | undefined;
  /** For hosts with many callers: a search then delays no other read. They start when needed. */
  readonly #searchers: Thread[] = [];
  readonly #turns = new SearchTurns();
  #host: HostWriter | undefined;
  /** A write of the host's thread that is not yet durable. */
  #hostWrite: Promise<unknown> | undefined;
  #checkpointing: Promise<void> | undefined;
  /** The checkpoint was partial: a reader held an older snapshot. */
  #isCheckpointPartial = false;

  constructor(options: ExecutorOptions, onUnmerged: OnUnmerged) {
    this.#options = options;
    this.#onUnmerged = onUnmerged;
    this.#reader = this.#start("reader");
  }

  /**
   * Starts with its first request, or after the first read: a process that begins with a read has
   * its answer 100 ms sooner if one thread loads, not two.
   */
  get #writer(): Thread {
    this.#writing ??= new Thread(
      { ...this.#options, role: "writer" },
      () => void this.#checkpoint(),
    );
    return this.#writing;
  }

  write<Name extends WriteName>(
    name: Name,
    args: Parameters<SqliteWrites[Name]>,
  ): ReturnType<SqliteWrites[Name]> {
    return this.#write(name, args) as ReturnType<SqliteWrites[Name]>;
  }

  #write(name: WriteName, args: readonly unknown[]): Promise<unknown> {
    const { maxQueue, searchThreads } = this.#options;
    const waiting = this.#writer.waiting;
    if (waiting >= maxQueue) return Promise.reject(queueFull(waiting));
    const idle = waiting === 0 && this.#hostWrite === undefined;
    if (idle && isSmallWrite(name, args, searchThreads > 0)) {
      const written = this.#writeOnHost(name, args);
      if (written !== undefined) return written;
    }
    if (name !== "append") return this.#writer.ask(name, args);
    const [tenant, request] = args as [string, AppendRequest];
    const parcel = packAppend(tenant, request);
    return this.#writer.ask(name, [parcel], parcel.contents);
  }

  read<Name extends ReadName>(
    name: Name,
    args: Parameters<SqliteReads[Name]>,
  ): ReturnType<SqliteReads[Name]> {
    const read = this.#reader.ask(name, args);
    if (this.#writing === undefined) void read.finally(() => this.#writer).catch(() => undefined);
    return read as ReturnType<SqliteReads[Name]>;
  }

  search(tenant: string, request: IndexRequest, signal?: AbortSignal): Promise<IndexAnswer> {
    const search = (lane: number) => this.#searchIn(lane, tenant, request, signal);
    // Vectors are in the memory of one thread only.
    return this.#turns.run(tenant, search, { signal, isFirst: "meaning" in request });
  }

  #searchIn(
    lane: number,
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<IndexAnswer> {
    const thread = this.#searcherOf(lane);
    // A searching thread receives no messages: it polls this flag.
    const aborted = signal && new Int32Array(new SharedArrayBuffer(4));
    const abort = () => aborted && Atomics.store(aborted, 0, 1);
    signal?.addEventListener("abort", abort, { once: true });
    const sharing = Math.max(1, this.#searchers.length);
    const args = [tenant, request, aborted, sharing];
    const parcel = thread.ask(SEARCH, args) as Promise<AnswerParcel>;
    return parcel.then(unpackAnswer).finally(() => signal?.removeEventListener("abort", abort));
  }

  #searcherOf(lane: number): Thread {
    const { searchThreads } = this.#options;
    if (searchThreads === 0) return this.#reader;
    // The second one starts while the first searches, so it follows in the list.
    const at = Math.min(lane, searchThreads - 1, this.#searchers.length);
    const thread = alive(this.#searchers[at]) ?? this.#start("reader");
    this.#searchers[at] = thread;
    return thread;
  }

  maintain(
    tenant: string,
    task: MaintenanceTask,
    unreadable: readonly number[],
  ): Promise<MaintenanceReport> {
    if (this.#options.readOnly) return Promise.reject(openForReading());
    this.#indexer = alive(this.#indexer) ?? this.#start("indexer");
    const report = this.#indexer.ask(MAINTAIN, [tenant, task, unreadable]);
    return report.then((finished) =>
      this.#completeCheckpoint().then(() => finished as MaintenanceReport),
    );
  }

  async stopMaintenance(): Promise<void> {
    await alive(this.#indexer)?.ask(STOP, []);
  }

  #start(role: ThreadData["role"]): Thread {
    return new Thread({ ...this.#options, role }, () => undefined);
  }

  async close(): Promise<void> {
    await this.#hostWrite;
    await closeAll(
      () => this.#host?.close(),
      // The writer closes last: it checkpoints the log, which needs the only connection.
      () => this.#indexer?.close(),
      ...this.#searchers.map((thread) => () => thread.close()),
      () => this.#reader.close(),
      async () => {
        const reason = await this.#writer.close();
        if (typeof reason === "string") this.#onUnmerged(reason);
      },
    );
  }

  /** Undefined if the lock is taken: then the writer's thread waits for it. */
  #writeOnHost(name: WriteName, args: readonly unknown[]): Promise<unknown> | undefined {
    if (this.#options.readOnly) return undefined;
    this.#host ??= new HostWriter(this.#options);
    const outcome = this.#host.write(name, args);
    if (outcome === undefined) return undefined;
    if ("error" in outcome) return Promise.reject(outcome.error);
    if (this.#host.takeLogLarge()) void this.#checkpoint();
    const synced = this.#host.sync();
    if (synced === undefined) return Promise.resolve(outcome.value);
    const acknowledged = synced.then(() => outcome.value);
    const done = () => {
      this.#hostWrite = undefined;
    };
    this.#hostWrite = acknowledged.then(done, done);
    return acknowledged;
  }

  /**
   * Checkpoints on the reader's thread while the writer keeps appending. The writer then checkpoints
   * the small rest, for which alone appends wait: SQLite restarts only a fully checkpointed log,
   * which would otherwise grow without bound. After a partial one, searches wait for the next: where
   * they follow each other without a pause, one of them always has an earlier snapshot.
   */
  #checkpoint(): Promise<void> {
    // The next growth of the log retries a failed checkpoint.
    const both = async () => {
      await this.#reader.ask(CHECKPOINT, []);
      return this.#writer.ask(CHECKPOINT, []);
    };
    this.#checkpointing ??= (this.#isCheckpointPartial ? this.#turns.between(both) : both())
      .then(
        (isWhole) => {
          this.#isCheckpointPartial = isWhole === false;
        },
        () => undefined,
      )
      .finally(() => {
        this.#checkpointing = undefined;
      });
    return this.#checkpointing;
  }

  /**
   * The indexer's snapshots keep checkpoints partial, so the next maintenance step waits for the
   * pending checkpoint.
   */
  async #completeCheckpoint(): Promise<void> {
    await this.#checkpointing;
    if (this.#isCheckpointPartial) await this.#checkpoint();
  }
}

/**
 * Replies settled per turn of the event loop: their continuations take about half a millisecond.
 */
const REPLIES_PER_TURN = 16;

/**
 * With this many requests pending, further ones wait for the end of the turn and are sent together:
 * waking a thread costs more than most requests.
 */
const MANY_WAITING = 8;

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * V8's young generation in each thread. More saves no time for large, short-lived objects, and is
 * never returned: a hundred megabytes while an index is built.
 */
const YOUNG_MB: Readonly<Record<ThreadData["role"], number>> = {
  writer: 16,
  reader: 24,
  indexer: 12,
};

/**
 * V8 collects a heap with a limit above two gigabytes at four times the live size, a smaller one at
 * twice. Searches keep no garbage alive: this saves 50 MB at the same speed. The writer and the
 * indexer would be 3 % slower, so they keep the default.
 */
const READER_OLD_MB = 1_900;

function limitsOf(role: ThreadData["role"]): ResourceLimits {
  const young = { maxYoungGenerationSizeMb: YOUNG_MB[role] };
  if (role !== "reader") return young;
  const ownMb = getHeapStatistics().heap_size_limit / 2 ** 20;
  return { ...young, maxOldGenerationSizeMb: Math.min(READER_OLD_MB, ownMb) };
}

class Thread {
  readonly #worker: Worker;
  readonly #waiters = new Map<number, Waiter>();
  readonly #undelivered: Reply[] = [];
  #unsent: Request[] = [];
  /** The transfer list. */
  #transfers: ArrayBuffer[] = [];
  #lastId = 0;
  #died: unknown;

  constructor(data: ThreadData, onWalLarge: () => void) {
    const resourceLimits = limitsOf(data.role);
    this.#worker = new Worker(threadFile(), {
      workerData: data,
      resourceLimits,
      ...programOptions(),
      env: { ...process.env, ...compileCache() },
    });
    this.#worker.on("message", (message: Replies) => {
      const delivering = this.#undelivered.length > 0;
      this.#undelivered.push(...message.replies);
      if (!delivering) this.#deliver();
      if (message.walLarge) onWalLarge();
    });
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => {
      this.#fail(new BackscrollError("store_closed", "the store is closed"));
    });
    // Last: a "message" listener references the thread's port again.
    this.#worker.unref();
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  get isDead(): boolean {
    return this.#died !== undefined;
  }

  /** `transfers` is the buffer of `args` to transfer. */
  ask(
    name: RequestName,
    args: readonly unknown[],
    transfers: ArrayBuffer | null = null,
  ): Promise<unknown> {
    if (this.#died !== undefined) return Promise.reject(this.#died);
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiters.set(id, { resolve, reject });
      if (this.#waiters.size === 1) this.#worker.ref();
      this.#unsent.push({ id, name, args });
      if (transfers !== null) this.#transfers.push(transfers);
      if (this.#unsent.length > 1) return;
      if (this.#waiters.size > MANY_WAITING) setImmediate(() => this.#send());
      else queueMicrotask(() => this.#send());
    });
  }

  /** Sends all queued requests in one message. */
  #send(): void {
    const requests = this.#unsent;
    const transfers = this.#transfers;
    this.#unsent = [];
    this.#transfers = [];
    if (this.#post(requests, transfers) === undefined || requests.length === 1) return;
    // One of them cannot be cloned: send the others.
    for (const request of requests) this.#post([request]);
  }

  /** Returns the error; a request that was posted alone is rejected with it. */
  #post(requests: readonly Request[], transfers: readonly ArrayBuffer[] = []): unknown {
    try {
      this.#worker.postMessage({ requests } satisfies Requests, transfers);
      return undefined;
    } catch (error) {
      const [only] = requests;
      if (requests.length === 1 && only !== undefined) this.#take(only.id)?.reject(error);
      return error;
    }
  }

  /** Gives the thread's answer. A dead thread has rejected its callers already. */
  async close(): Promise<unknown> {
    let answer: unknown;
    await closeAll(
      async () => {
        answer = await alive(this)?.ask(CLOSE, []);
      },
      () => this.#worker.terminate(),
    );
    return answer;
  }

  /**
   * Settles received replies a few at a time: each continuation runs at once and usually sends the
   * next request, so a whole group would hold the event loop for milliseconds.
   */
  #deliver(): void {
    for (const reply of this.#undelivered.splice(0, REPLIES_PER_TURN)) this.#settle(reply);
    if (this.#undelivered.length > 0) setImmediate(() => this.#deliver());
  }

  #settle(reply: Reply): void {
    const waiter = this.#take(reply.id);
    if ("failure" in reply) waiter?.reject(fromFailure(reply.failure));
    else waiter?.resolve(reply.value);
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    if (this.#waiters.size === 0) this.#worker.unref();
    return waiter;
  }

  #fail(error: unknown): void {
    this.#died ??= error;
    for (const reply of this.#undelivered.splice(0)) this.#settle(reply);
    for (const { reject } of this.#waiters.values()) reject(this.#died);
    this.#waiters.clear();
  }
}

/** Undefined if the thread is dead (it could not start, e.g. EMFILE); the caller starts a new one. */
function alive(thread: Thread | undefined): Thread | undefined {
  return thread?.isDead ? undefined : thread;
}

/** A thread has the process's cache of compiled code only by this variable: it starts 40 ms sooner. */
function compileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  // The folder of this version of Node, in the one to name.
  const folder = module.getCompileCacheDir?.();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/**
 * A thread inherits the process's options. It cannot have the type of a program that is read from
 * standard input or the command line; options of V8, which hold for the process, cannot be named.
 */
function programOptions(): { readonly execArgv?: string[] } {
  const isFromText = process.execArgv.some((word) => word.startsWith("--input-type"));
  return isFromText ? { execArgv: [] } : {};
}

/** The path of a storage thread's code. The built file has another extension than the source. */
function threadFile(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./storage-thread.${extension}`, import.meta.url);
}

/** Why this program cannot have the threads; undefined if it can. */
export function missingThreads(): string | undefined {
  if ("deno" in process.versions) return "Deno's threads cannot wait for messages as SQLite needs";
  // A bundle has this module in another place, without a URL of it in CommonJS.
  const url: string | undefined = import.meta.url;
  if (url !== undefined && existsSync(threadFile())) return undefined;
  return "this bundle is without storage-thread.js; keep backscroll out of it (external)";
}
