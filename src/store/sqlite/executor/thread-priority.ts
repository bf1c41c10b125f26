/**
 * Lowers the priority of the index thread.
 *
 * Indexing is not urgent: searches also read the unindexed tail. With as many threads as cores, a
 * search or an append would otherwise wait for it. The scheduler still gives it a share under full
 * load, so it does not fall behind for ever.
 */

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** About a third of the share of a thread that is not polite. */
const NICE = 5;

/** Of the calling thread, where the system can do that: only Linux gives each its own. */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    const thread = readlinkSync("/proc/thread-self").split("/").at(-1);
    setPriority(Number(thread), NICE);
  } catch {
    // Not allowed here: then it is one among others.
  }
}
