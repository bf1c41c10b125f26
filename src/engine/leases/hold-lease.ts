/**
 * Leader election by lease: one process works, others stand by.
 *
 * The lease has no fencing token: a process suspended for longer than the lease may continue for a
 * moment before it notices the loss, so the work must tolerate two processes doing it.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Store } from "../../store/store.ts";
import { isOutage } from "./outage.ts";

export interface HoldLeaseOptions {
  /** The expiry after a holder's death. Renewals come every third of it. */
  readonly durationMs: number;
  /** How long to wait for another holder; 0: not at all. Default: forever. */
  readonly patienceMs?: number;
  /** Ends the waiting, or the work. */
  readonly signal?: AbortSignal;
  /**
   * A name shared by successive processes, of which a later one takes over at once, also after a
   * kill. Never for two that run concurrently. Default: unique to the call.
   */
  readonly owner?: string;
}

/** Work that ends by itself or when its signal is aborted. */
export type LeasedWork = (signal: AbortSignal) => Promise<void>;

/** A claim: owner and lease. */
interface LeaseClaim extends HoldLeaseOptions {
  readonly store: Pick<Store, "takeLease" | "dropLease">;
  readonly name: string;
  readonly owner: string;
  /** Waits for other claims of this process without a limit: the patience is for other processes. */
  readonly waitsForOwn?: boolean;
}

/**
 * Waits for the lease and runs `work` while it holds it. Claims of one process get the lease in
 * FIFO order. When the lease is lost, the work's signal is aborted, and once the work has ended it
 * starts again.
 *
 * Resolves when the work has ended, when `signal` was aborted, or when the patience ended while
 * another held the lease, before the work ran or after a loss. Rejects with the work's error, or
 * when the store is closed; a busy or unreachable store is waited for.
 */
export async function holdLease(claim: LeaseClaim, work: LeasedWork): Promise<void> {
  const { store, name, patienceMs, signal } = claim;
  const until = endOfPatience(patienceMs);
  const { waitsForOwn = false } = claim;
  const end = waitsForOwn ? Number.POSITIVE_INFINITY : until;
  const leave = await waitInQueue(store, name, end, signal);
  if (leave === undefined) return;
  try {
    await workWhenHeld(claim, waitsForOwn ? endOfPatience(patienceMs) : until, work);
  } finally {
    leave();
  }
}

/** The end of a wait that begins now, by the clock of `performance.now()`. */
function endOfPatience(patienceMs = Number.POSITIVE_INFINITY): number {
  return performance.now() + patienceMs;
}

async function workWhenHeld(claim: LeaseClaim, firstEnd: number, work: LeasedWork): Promise<void> {
  const { durationMs, patienceMs, signal } = claim;
  let until = firstEnd;
  const isStopped = () => signal?.aborted === true;
  // With limited patience the work is short, so it polls more often.
  const roundMs = patienceMs === undefined ? durationMs / 3 : Math.min(durationMs / 3, ROUND_MS);
  while (!isStopped()) {
    const asked = performance.now();
    if ((await take(claim)) === true) {
      if (isStopped()) return drop(claim);
      // After a slow answer little of the lease may be left: renew it first.
      if (performance.now() - asked > durationMs / 3) continue;
      if ((await workUnderLease(claim, asked, work)) === "done") return;
      // The patience excludes the time of the work.
      until = endOfPatience(patienceMs);
    }
    const left = until - performance.now();
    if (left <= 0) return;
    await pause(Math.min(roundMs, left), signal);
  }
}

const ROUND_MS = 250;

/** Whether the lease is ours; undefined if unknown. */
async function take({ store, name, owner, durationMs }: LeaseClaim): Promise<boolean | undefined> {
  try {
    return await store.takeLease(name, owner, durationMs);
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}

/** `asked` is the time of the claim: the lease began no earlier. */
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
  // A loss after the work's end is irrelevant.
  const outcome = isLost ? "lost" : "done";
  signal?.removeEventListener("abort", stop);
  over.abort();
  // Wait for a renewal in flight, which would take the released lease again.
  const [kept] = await keeping;
  if (outcome === "done") await drop(claim);
  for (const ended of [worked, kept]) {
    if (ended.status === "rejected" && !isAbort(ended.reason, working.signal)) throw ended.reason;
  }
  return outcome;
}

/** Renews the lease until `over`, or until it is lost: then calls `lose` at once. */
async function keepLease(
  claim: LeaseClaim,
  asked: number,
  over: AbortSignal,
  lose: () => void,
): Promise<void> {
  const { durationMs } = claim;
  // By this process's clock, so that it also expires while the store does not answer.
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

/** Releases the lease. If that fails, it expires. */
async function drop({ store, name, owner }: LeaseClaim): Promise<void> {
  try {
    await store.dropLease(name, owner);
  } catch (error) {
    if (!isOutage(error) && !BackscrollError.is(error, "store_closed")) throw error;
  }
}

/** Whether the work ended because of its signal. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}

/**
 * A FIFO queue of one process's claims to the same lease.
 *
 * Only the first claim polls; if each polled, all would write in every round and chance would
 * decide.
 */

/** Each is aborted, as a wake-up, when it becomes the first. */
type Queue = AbortController[];

/** By store and lease. */
const queues = new WeakMap<Pick<Store, "takeLease">, Map<string, Queue>>();

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** The claims of this process to a lease: its holder, if it is one of them, and those that wait. */
export function claimsHere(store: Pick<Store, "takeLease">, name: string): number {
  return queues.get(store)?.get(name)?.length ?? 0;
}

/**
 * Waits to be the first, up to `until` (of `performance.now()`) or until `signal` is aborted. Gives
 * a function that leaves the queue and must be called; undefined if the waiting ended before.
 */
async function waitInQueue(
  store: Pick<Store, "takeLease">,
  name: string,
  until: number,
  signal: AbortSignal | undefined,
): Promise<(() => void) | undefined> {
  const ofStore = queues.get(store) ?? new Map<string, Queue>();
  queues.set(store, ofStore);
  const queue = ofStore.get(name) ?? [];
  ofStore.set(name, queue);
  const place = new AbortController();
  queue.push(place);
  const leave = () => {
    queue.splice(queue.indexOf(place), 1);
    queue[0]?.abort();
    if (queue.length === 0) ofStore.delete(name);
  };
  const woken = signal === undefined ? place.signal : AbortSignal.any([signal, place.signal]);
  const isStopped = () => signal?.aborted === true || performance.now() >= until;
  while (queue[0] !== place && !isStopped()) {
    await pause(Math.min(until - performance.now(), LONGEST_MS), woken);
  }
  if (queue[0] === place && signal?.aborted !== true) return leave;
  leave();
  return undefined;
}
