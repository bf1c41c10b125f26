/** Chooses the executor of a store. */

import type { Executor, ExecutorOptions } from "./executor.ts";
import { InThread } from "./in-thread.ts";
import { Threads } from "./threads.ts";

export function startExecutor(options: ExecutorOptions, inThread: boolean): Executor {
  if (inThread) return new InThread(options);
  try {
    return new Threads(options);
  } catch {
    // Some hosts forbid worker threads. The store then runs on the host's thread.
    return new InThread(options);
  }
}
