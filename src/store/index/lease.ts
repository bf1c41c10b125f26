/**
 * The lease of index maintenance, with a fencing token.
 *
 * The lease avoids duplicate work; the compare-and-swap of the manifest ensures correctness. It
 * expires by the database's clock; processes on the holder's machine detect its death earlier
 * (`isDeadHolder`). Its epoch is the fencing token: a swap under a lease that was taken over is
 * refused.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

export interface Lease {
  readonly holder: string;
  /** Incremented with each claim. */
  readonly epoch: number;
  /** Its duration from each renewal. */
  readonly ms: number;
}

/** Tolerance of process start times: clocks and rounding. */
const SAME_START_MS = 10_000;

/** The name of a lease's holder: machine, pid, start time, and handle. */
export function newHolder(): string {
  return [hostname(), process.pid, startedAt(), randomUUID()].join("|");
}

/**
 * Whether a lease's holder is certainly dead: it ran on this machine, and its pid is unused, or is
 * ours and we started later.
 *
 * Containers may share a host name but not their processes; then a lease is taken from a living
 * holder, and the manifest's compare-and-swap fences its later writes.
 */
export function isDeadHolder(holder: string): boolean {
  const [host, id, start, ...rest] = holder.split("|");
  const pid = Number(id);
  if (rest.length !== 1 || host !== hostname() || !Number.isSafeInteger(pid) || pid <= 0) {
    return false;
  }
  if (pid === process.pid) return Math.abs(Number(start) - startedAt()) > SAME_START_MS;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function startedAt(): number {
  return Math.round(Date.now() - process.uptime() * 1000);
}

/** The share of its duration after which the next yield renews a lease. */
export const RENEW_AFTER = 0.33;

/**
 * Grace period of a segment that no manifest names: a manifest may be about to name it, or a search
 * without a snapshot may still read it. Most searches end well within it (the default deadline is
 * 500 ms); one that misses a segment reads the manifest again.
 */
export const DROPPED_KEPT_MS = 10_000;
