/** Following this machine's transcripts while no other process does: the next one steps in. */

import type { IngestLease } from "./ingest-lease.ts";
import { LEASE_MS } from "./ingest-lease.ts";

export interface TurnOptions {
  readonly lease: IngestLease;
  readonly signal: AbortSignal;
  /** Does the work until its own signal is aborted. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Between two looks at the lease: a third of its time if left out. */
  readonly lookMs?: number;
}

/** Resolves when the signal is aborted; a failure of the work ends it, and gives the lease back. */
export async function workInTurn(options: TurnOptions): Promise<void> {
  const { lease, signal, work, lookMs = LEASE_MS / 3 } = options;
  while (!signal.aborted) {
    if (lease.take()) await hold(lease, signal, work, lookMs);
    else await pause(lookMs, signal);
  }
}

async function hold(
  lease: IngestLease,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
  lookMs: number,
): Promise<void> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    if (!lease.renew()) lost.abort();
  }, lookMs);
  try {
    await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
    lease.release();
  }
}

/** Until the time has passed, or the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
