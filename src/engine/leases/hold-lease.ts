/**
 * Leader election by lease: one process works, others stand by to take over.
 *
 * A lease does not fence. A process that was suspended for longer than the lease may continue for a
 * moment before it notices the loss, so the work must be correct when two processes do it.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Store } from "../../store/store.ts";
import { standInLine } from "./lease-line.ts";

export interface HoldLeaseOptions {
  /** How long others wait for a holder that has died. A third of it lies between two renewals. */
  readonly durationMs: number;
  /** How long to wait for another holder; 0: not at all. Default: for ever. */
  readonly patienceMs?: number;
  /** Ends the waiting, or the work. */
  readonly signal?: AbortSignal;
  /**
   * The same for processes of which a later one takes over from an earlier one at once, also when that
   * one was killed. Never for two that run at a time. An id of this call's own if left out.
   */
  readonly owner?: string;
}

/** Does something until it is done or the signal says to stop. */
export type LeasedWork = (signal: AbortSignal) => Promise<void>;

/** A claim: owner and lease. */
export interface LeaseClaim extends HoldLeaseOptions {
  readonly store: Pick<Store, "takeLease" | "dropLease">;
  readonly name: string;
  readonly owner: string;
}

/**
 * Waits for the lease and runs `work` while it holds it. Claims of one process get the lease in
 * FIFO order. When the lease is lost, the work's signal is aborted, and once the work has ended it
 * begins anew.
 *
 * Resolves when the work has ended by itself, when `signal` was aborted, or when the patience ended
 * without the work having run. Rejects with the work's error, or when the store is closed; a busy
 * or unreachable store is waited for.
 */
export async function holdLease(claim: LeaseClaim, work: LeasedWork): Promise<void> {
  const { store, name, patienceMs, signal } = claim;
  const until = performance.now() + (patienceMs ?? Number.POSITIVE_INFINITY);
  const leave = await standInLine(store, name, until, signal);
  if (leave === undefined) return;
  try {
    await workWhenHeld(claim, until, work);
  } finally {
    leave();
  }
}

async function workWhenHeld(claim: LeaseClaim, until: number, work: LeasedWork): Promise<void> {
  const { durationMs, patienceMs, signal } = claim;
  const isStopped = () => signal?.aborted === true;
  // With a limited patience the work is short: ask more often.
  const roundMs = patienceMs === undefined ? durationMs / 3 : Math.min(durationMs / 3, ROUND_MS);
  while (!isStopped()) {
    const asked = performance.now();
    if ((await take(claim)) === true) {
      if (isStopped()) return drop(claim);
      // Little may be left of it after an answer that took long, such as the first: renew it first.
      if (performance.now() - asked > durationMs / 3) continue;
      if ((await workUnderLease(claim, asked, work)) === "done") return;
    }
    const left = until - performance.now();
    if (left <= 0) return;
    await pause(Math.min(roundMs, left), signal);
  }
}

const ROUND_MS = 250;

/** Whether the lease is ours now; undefined if unknown. */
async function take({ store, name, owner, durationMs }: LeaseClaim): Promise<boolean | undefined> {
  try {
    return await store.takeLease(name, owner, durationMs);
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}

/** `asked` is when the lease was asked for: no later than its time began. */
async function workUnderLease(
  claim: LeaseClaim,
  asked: number,
  work: LeasedWork,
): Promise<"done" | "lost"> {
  const { signal } = claim;
  const [working, over] = [new AbortController(), new AbortController()];
  let isLost = false;
  const lose = () => {
    isLost = true;
    working.abort();
  };
  const stop = () => working.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  const keeping = Promise.allSettled([keepLease(claim, asked, over.signal, lose)]);
  const [worked] = await Promise.allSettled([(async () => work(working.signal))()]);
  // A loss after the work's end does not matter.
  const outcome = isLost ? "lost" : "done";
  signal?.removeEventListener("abort", stop);
  over.abort();
  // A renewal that is under way would take the lease back after it was given up.
  const [kept] = await keeping;
  if (outcome === "done") await drop(claim);
  for (const ended of [worked, kept]) {
    if (ended.status === "rejected" && !isAbort(ended.reason, working.signal)) throw ended.reason;
  }
  return outcome;
}

/** Renews the lease until that is `over`, or the lease is lost: then `lose` is called at once. */
async function keepLease(
  claim: LeaseClaim,
  asked: number,
  over: AbortSignal,
  lose: () => void,
): Promise<void> {
  const { durationMs } = claim;
  // By this process's own clock, so that it also runs out while the store does not answer.
  const runOut = (from: number) =>
    setTimeout(lose, Math.max(0, from + durationMs - performance.now()));
  let timer = runOut(asked);
  try {
    for (;;) {
      await pause(durationMs / 3, over);
      if (over.aborted) return;
      const again = performance.now();
      const isOurs = await take(claim);
      if (isOurs === false) return lose();
      if (isOurs === undefined) continue;
      clearTimeout(timer);
      timer = runOut(again);
    }
  } catch (error) {
    lose();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Lets others in at once. If that fails, the lease runs out by itself. */
async function drop({ store, name, owner }: LeaseClaim): Promise<void> {
  try {
    await store.dropLease(name, owner);
  } catch (error) {
    if (!isPassing(error) && !BackscrollError.is(error, "store_closed")) throw error;
  }
}

/** True for transient errors, which the next attempt may not meet. */
function isPassing(error: unknown): boolean {
  return (["store_busy", "store_unavailable", "store_full"] as const).some((code) =>
    BackscrollError.is(error, code),
  );
}

/** Whether the work has ended because it was told to. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}
