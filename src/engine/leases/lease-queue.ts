/**
 * A FIFO queue of one process's claims to the same lease.
 *
 * Only the first claim polls; if each polled, all would write in every round and chance would
 * decide.
 */

import { pause } from "../../async/pause.ts";
import type { Store } from "../../store/store.ts";

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
export async function waitInQueue(
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
