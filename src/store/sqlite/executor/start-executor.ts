/** Chooses the executor of a store. */

import type { Executor, ExecutorOptions, OnUnmerged } from "./executor.ts";
import { InThread } from "./in-thread.ts";
import { Threads } from "./threads.ts";

export function startExecutor(
  options: ExecutorOptions,
  inThread: boolean,
  onUnmerged: OnUnmerged,
): Executor {
  if (inThread) return new InThread(options, onUnmerged);
  try {
    return new Threads(options, onUnmerged);
  } catch {
    // Some hosts forbid worker threads. The store then runs on the host's thread.
    return new InThread(options, onUnmerged);
  }
}
