/**
 * Stores in tests start their threads from `dist`, which starts five to ten times as fast as the sources.
 */

import { accessSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";
import workerThreads from "node:worker_threads";

const SOURCE = new URL("../../src/store/sqlite/executor/storage-thread.ts", import.meta.url);
const BUILT = new URL("../../dist/storage-thread.js", import.meta.url);

// Without either, threads would run from the sources, and nothing would tell but the duration of a run.
for (const file of [SOURCE, BUILT]) accessSync(fileURLToPath(file));

/** How many threads of stores were started from `dist`. */
export let redirected = 0;

class RedirectedWorker extends workerThreads.Worker {
  constructor(file: string | URL, options?: workerThreads.WorkerOptions) {
    const isStore = String(file) === SOURCE.href;
    super(isStore ? BUILT : file, options);
    if (isStore) redirected++;
  }
}

Object.assign(workerThreads, { Worker: RedirectedWorker });
syncBuiltinESMExports();
