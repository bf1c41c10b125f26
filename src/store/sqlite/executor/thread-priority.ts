/**
 * Lets all other threads go first.
 *
 * Nobody waits for the index: what is not in it yet is found in the tail. Where there are as many
 * threads as cores, a search or an append would otherwise wait for it. It still gets its share when
 * the others need all of the machine, so that it does not fall behind for ever.
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
