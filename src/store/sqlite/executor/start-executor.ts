/** Which executor a store gets. */

import type { Executor, ExecutorOptions } from "./executor.ts";
import { InThread } from "./in-thread.ts";
import { Threads } from "./threads.ts";

export function startExecutor(options: ExecutorOptions, inThread: boolean): Executor {
  if (inThread) return new InThread(options);
  try {
    return new Threads(options);
  } catch {
    // Some hosts allow no worker threads. The store works without, at the host's own cost.
    return new InThread(options);
  }
}
