/**
 * Fast path: small writes run on the host's own thread while no other write is in progress.
 *
 * A round trip to another thread costs more than the write itself. So a write that finds the store
 * idle runs at once; later ones, until it is durable, go to the writer's thread and share a commit
 * there (group commit). The host's event loop pays for the statements, about a tenth of a
 * millisecond for one message and two for a hundred. The fsync runs in the thread pool; large writes
 * and writes that meet a lock run on the writer's thread.
 *
 * Without it an append takes 40 to 60 % longer (docs/decisions/what-pays.md).
 */

import { closeSync, fdatasync, openSync } from "node:fs";
import { BackscrollError } from "../../../model/errors.ts";
import type { WriteRecordsRequest } from "../../record/record-port.ts";
import type { AppendRequest } from "../../records.ts";
import type { WriteStreamRequest } from "../../requests.ts";
import type { WriteName } from "../operations/index.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { EventLoopYielder } from "./event-loop-yielder.ts";
import type { ExecutorOptions } from "./executor.ts";
import { LogGrowth } from "./log-growth.ts";
import { type Outcome, WriteQueue } from "./write-queue.ts";

/** A larger write would stall the host. */
const MAX_ROWS = 128;
/** For hosts with many callers: at most about a third of a millisecond. */
const MAX_ROWS_SHARED = 16;
const MAX_BYTES = 64 * 1024;

export class HostWriter {
  readonly #options: ExecutorOptions;
  readonly #db: SqliteConnection;
  readonly #queue: WriteQueue;
  readonly #growth: LogGrowth;
  /**
   * The write-ahead log's descriptor, for fsync. SQLite holds no lock on this file, so closing it
   * drops none.
   */
  #log: number | undefined;
  readonly #yielder = new EventLoopYielder();

  constructor(options: ExecutorOptions) {
    this.#options = options;
    // `sync` makes commits durable.
    this.#db = new SqliteConnection(options.path, { durability: "process" });
    this.#queue = new WriteQueue(this.#db, 0);
    this.#growth = new LogGrowth(this.#db);
  }

  /**
   * Executes a write that is not yet durable. Undefined without effect if another connection holds
   * the lock, or if the log cannot be opened for syncing.
   */
  write(name: WriteName, args: readonly unknown[]): Outcome | undefined {
    if (this.#options.durability === "power-loss" && !this.#openLog()) return undefined;
    return this.#queue.runNow(name, args);
  }

  /**
   * Resolves when the write is durable; undefined if it already is, and no yield is due.
   */
  sync(): Promise<void> | undefined {
    const log = this.#log;
    if (log === undefined) return this.#yielder.take();
    return new Promise((resolve, reject) => {
      fdatasync(log, (cause) => {
        if (cause === null) resolve();
        else reject(notDurable(cause));
      });
    });
  }

  #openLog(): boolean {
    try {
      this.#log ??= openSync(`${this.#options.path}-wal`, "r+");
      return true;
    } catch {
      // No -wal file yet, or EMFILE: use the writer thread, which needs no descriptor.
      return false;
    }
  }

  /** Whether the log has grown enough for a checkpoint. True once per growth. */
  takeLogLarge(): boolean {
    return this.#growth.takeLarge();
  }

  close(): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
    this.#db.close();
  }
}

/** Whether a write is quick enough for the host's thread, which many callers may share. */
export function isSmallWrite(
  name: WriteName,
  args: readonly unknown[],
  manyCallers: boolean,
): boolean {
  const most = manyCallers ? MAX_ROWS_SHARED : MAX_ROWS;
  if (name === "writeStream") {
    return ((args[1] as WriteStreamRequest).chunks?.length ?? 0) <= MAX_BYTES;
  }
  if (name === "writeRecords") {
    const { operations } = args[1] as WriteRecordsRequest;
    return operations.length <= most && bytesOf(operations) <= MAX_BYTES;
  }
  if (name !== "append") return false;
  const { entries, isHistory } = args[1] as AppendRequest;
  // An import needs the host's thread for parsing.
  if (isHistory) return false;
  let bytes = 0;
  for (const entry of entries) bytes += entry.contentBytes;
  return entries.length <= most && bytes <= MAX_BYTES;
}

function bytesOf(operations: WriteRecordsRequest["operations"]): number {
  let bytes = 0;
  for (const { put } of operations) bytes += (put?.bytes.length ?? 0) + (put?.text?.length ?? 0);
  return bytes;
}

function notDurable(cause: unknown): BackscrollError {
  return new BackscrollError(
    "store_unavailable",
    "the write could not be made durable; it may be lost with the next loss of power: check the disk and write it again under an idempotency key",
    { cause },
  );
}
