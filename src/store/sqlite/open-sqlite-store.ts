/** Opens a store by path: its file, its executor, and reported losses. */

import { availableParallelism } from "node:os";
import { describeConflict, firstSetting, warnOfConflict } from "../index/stored-indexing.ts";
import { flushAtOf } from "../indexer.ts";
import type { Store, StoreOptions } from "../store.ts";
import { MEMORY, warnOfLoss } from "../store-options.ts";
import type { Executor, ExecutorOptions, OnUnmerged } from "./executor/executor.ts";
import { InThread } from "./executor/in-thread.ts";
import { missingThreads, Threads } from "./executor/threads.ts";
import { settleSetting } from "./index/setting.ts";
import { nodeSqlite } from "./node-sqlite.ts";
import { openFile } from "./opening/open-file.ts";
import { prepareFile } from "./sqlite-file.ts";
import { migrate } from "./sqlite-schema.ts";
import { SqliteStore } from "./sqlite-store.ts";

export async function openSqliteStore(path: string, options: StoreOptions = {}): Promise<Store> {
  // Before a file is created.
  nodeSqlite();
  const readOnly = options.readOnly ?? false;
  const file = prepareFile(path, { create: (options.create ?? true) && !readOnly, readOnly });
  const executorOptions: ExecutorOptions = {
    path: file,
    durability: options.durability ?? "power-loss",
    readOnly,
    busyTimeoutMs: options.busyTimeoutMs ?? 30_000,
    maxQueue: options.maxQueue ?? 10_000,
    indexing: options.indexing ?? {},
    searchThreads: options.searchThread ? Math.min(2, availableParallelism()) : 0,
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
    const onUnmerged = (reason: string) =>
      (options.onWarning ?? warnOf("BACKSCROLL_LOG"))(describeUnmerged(file, reason));
    const onInThread = (why: string) =>
      (options.onWarning ?? warnOf("BACKSCROLL_THREADS"))(describeInThread(file, why));
    const executor =
      options.inThread === true
        ? new InThread(opened.options, onUnmerged)
        : startThreads(opened.options, onUnmerged, onInThread);
    return new SqliteStore(executor, opened.options, flushAt, opened);
  } catch (error) {
    opened.release();
    throw error;
  }
}

/** Some hosts cannot start threads. The store then runs on the host's own, and says why. */
function startThreads(
  options: ExecutorOptions,
  onUnmerged: OnUnmerged,
  onInThread: (why: string) => void,
): Executor {
  let why = missingThreads();
  if (why === undefined) {
    try {
      return new Threads(options, onUnmerged);
    } catch (error) {
      why = `no thread can start (${error instanceof Error ? error.message : String(error)})`;
    }
  }
  onInThread(why);
  return new InThread(options, onUnmerged);
}

/** A write-ahead log that stays, because the file cannot take its pages: the disk is full. */

function describeUnmerged(path: string, reason: string): string {
  return `everything that was acknowledged is stored, but the write-ahead log could not be merged into ${path}: ${reason}. Keep ${path}-wal beside it; the next process that closes the store merges it, once there is room`;
}

function describeInThread(path: string, why: string): string {
  return `SQLite runs on the program's own thread, which each read and write of ${path} holds: ${why}; inThread: true does the same without this note`;
}

/** The default handler: Node prints the warning once, to standard error. */
function warnOf(code: "BACKSCROLL_LOG" | "BACKSCROLL_THREADS"): (sentence: string) => void {
  return (sentence) => process.emitWarning(sentence, { type: "BackscrollWarning", code });
}
