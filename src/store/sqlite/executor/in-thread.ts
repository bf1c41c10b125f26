/** SQLite on the caller's thread: for `:memory:`, short commands, and hosts without threads. */

import { pause } from "../../../async/pause.ts";
import { BackscrollError } from "../../../model/errors.ts";
import type { MaintenanceReport, MaintenanceTask } from "../../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import { loadIndexCode } from "../../index/index-code.ts";
import { openForReading, queueFull } from "../../store-errors.ts";
import { MEMORY } from "../../store-options.ts";
import { Maintainer } from "../index/maintainer.ts";
import { InMemoryMaintainer } from "../index/memory-maintainer.ts";
import { Searcher } from "../index/searcher.ts";
import { SegmentFile } from "../index/segment-file.ts";
import {
  callRead,
  type ReadName,
  type SqliteReads,
  type SqliteWrites,
  type WriteName,
} from "../operations/index.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { isBusy } from "../sqlite-errors.ts";
import { connect, readEpoch } from "../sqlite-schema.ts";
import { EventLoopYielder } from "./event-loop-yielder.ts";
import { closeAll, type Executor, type ExecutorOptions, type OnUnmerged } from "./executor.ts";
import { LogGrowth } from "./log-growth.ts";
import { type Outcome, WriteQueue } from "./write-queue.ts";

export class InThread implements Executor {
  readonly inThread = true;
  readonly #options: ExecutorOptions;
  readonly #onUnmerged: OnUnmerged;
  readonly #writer: SqliteConnection;
  /** A second connection, so that reads see committed data only. `:memory:` has one connection. */
  readonly #reader: SqliteConnection;
  readonly #queue: WriteQueue;
  readonly #growth: LogGrowth;
  readonly #yielder = new EventLoopYielder();
  readonly #segments: SegmentFile;
  readonly #searcher: Searcher;
  #maintainer: Maintainer | InMemoryMaintainer | undefined;
  #draining = false;
  #waiting = 0;
  #closed = false;

  constructor(options: ExecutorOptions, onUnmerged: OnUnmerged = () => undefined) {
    const { path, durability, readOnly } = options;
    this.#options = options;
    this.#onUnmerged = onUnmerged;
    this.#writer = connect(path, { durability, readOnly });
    this.#reader = path === MEMORY ? this.#writer : connect(path, { readOnly });
    this.#queue = new WriteQueue(this.#writer, options.busyTimeoutMs, options.path !== MEMORY);
    this.#growth = new LogGrowth(this.#writer);
    this.#segments = new SegmentFile(path, readOnly, () => readEpoch(this.#reader));
    this.#searcher = new Searcher(this.#reader, this.#segments, options.indexing);
  }

  get connection(): SqliteConnection {
    return this.#writer;
  }

  get only(): SqliteConnection | undefined {
    return this.#options.path === MEMORY ? this.#writer : undefined;
  }

  write<Name extends WriteName>(
    name: Name,
    args: Parameters<SqliteWrites[Name]>,
  ): ReturnType<SqliteWrites[Name]> {
    return this.#write(name, args) as ReturnType<SqliteWrites[Name]>;
  }

  async #write(name: WriteName, args: readonly unknown[]): Promise<unknown> {
    if (this.#waiting >= this.#options.maxQueue) throw queueFull(this.#waiting);
    const value = await this.#enqueue(name, args);
    await this.#yielder.take();
    return value;
  }

  #enqueue(name: WriteName, args: readonly unknown[]): Promise<unknown> {
    this.#waiting++;
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        this.#waiting--;
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.value);
      };
      this.#queue.add({ name, args, settle });
      this.#drainSoon();
    });
  }

  read<Name extends ReadName>(
    name: Name,
    args: Parameters<SqliteReads[Name]>,
  ): ReturnType<SqliteReads[Name]> {
    const read = this.#whenFree(() => callRead(this.#reader, name, args));
    return read as ReturnType<SqliteReads[Name]>;
  }

  async search(tenant: string, request: IndexRequest, signal?: AbortSignal): Promise<IndexAnswer> {
    const code = await loadIndexCode(this.#options.indexing.module);
    return this.#whenFree(() => {
      signal?.throwIfAborted();
      return this.#searcher.search(code, tenant, request);
    });
  }

  async maintain(
    tenant: string,
    task: MaintenanceTask,
    unreadable: readonly number[],
  ): Promise<MaintenanceReport> {
    if (this.#options.readOnly) throw openForReading();
    const code = await loadIndexCode(this.#options.indexing.module);
    this.#maintainer ??=
      this.#options.path === MEMORY
        ? new InMemoryMaintainer(this.#writer, this.#segments, this.#options.indexing)
        : new Maintainer(this.#options);
    return this.#maintainer.maintain(code, tenant, task, unreadable);
  }

  async stopMaintenance(): Promise<void> {
    await this.#maintainer?.stop();
  }

  async #whenFree<Result>(read: () => Result): Promise<Result> {
    await this.#yielder.take();
    const deadline = Date.now() + this.#options.busyTimeoutMs;
    for (;;) {
      // The store may be closed by now.
      if (this.#closed) throw new BackscrollError("store_closed", "the store is closed");
      try {
        return read();
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw error;
        await pause(2);
      }
    }
  }

  /** Waits for queued writes: each is executed, or times out. */
  async close(): Promise<void> {
    this.#queue.drain();
    while (!this.#queue.idle) await pause(2);
    const maintainer = this.#maintainer;
    await closeAll(
      () => maintainer?.close(),
      () => {
        this.#closed = true;
        this.#searcher.close();
      },
      () => this.#reader === this.#writer || this.#reader.close(),
      () => {
        const reason = closeWriter(this.#writer, this.#options.readOnly);
        if (reason !== undefined) this.#onUnmerged(reason);
      },
    );
  }

  /** Group commit: drains after the current microtasks, so concurrent writes share a commit. */
  #drainSoon(): void {
    if (this.#draining) return;
    this.#draining = true;
    queueMicrotask(() => {
      this.#draining = false;
      this.#queue.drain();
      this.#checkpointIfLarge();
    });
  }

  #checkpointIfLarge(): void {
    if (this.#options.path === MEMORY || !this.#growth.takeLarge()) return;
    try {
      this.#writer.checkpoint("PASSIVE");
    } catch {
      // The next growth of the log retries it.
    }
  }
}

/**
 * Checkpoints if possible, which leaves a single file. Gives the reason if it is not: all commits
 * are in the log, and the next process to open the store reads them there.
 */
export function closeWriter(db: SqliteConnection, readOnly: boolean): string | undefined {
  try {
    if (!readOnly && db.path !== MEMORY) db.checkpoint("TRUNCATE");
    return undefined;
  } catch (error) {
    // Other connections are open: the last one checkpoints.
    if (isBusy(error)) return undefined;
    if (!BackscrollError.is(error) || error.code === "store_corrupt") throw error;
    return error.message;
  } finally {
    db.close();
  }
}
