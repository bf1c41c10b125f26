/**
 * Lowers the scheduling priority (nice value) of the index thread.
 *
 * Indexing can wait: searches also read the unindexed tail. With as many threads as cores, a search
 * or an append would otherwise wait for it. Under full load the scheduler still gives it a share.
 */

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** A nice value of 5 has about a third of the CPU weight of nice 0. */
const NICE = 5;

/** Lowers the priority of the calling thread. Only Linux has one per thread; elsewhere a no-op. */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    const thread = readlinkSync("/proc/thread-self").split("/").at(-1);
    setPriority(Number(thread), NICE);
  } catch {
    // Not permitted: keep the normal priority.
  }
}
