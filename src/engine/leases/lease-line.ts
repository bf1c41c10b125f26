/**
 * A FIFO queue of one process's claims to the same lease.
 *
 * Only the first claim polls; if each polled, all would write in every round and chance would
 * decide.
 */

import { pause } from "../../async/pause.ts";
import type { Store } from "../../store/store.ts";

/** Each is called when it becomes the first. */
type Line = AbortController[];

/** By store and lease. */
const lines = new WeakMap<Pick<Store, "takeLease">, Map<string, Line>>();

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits to be the first, up to `until` (of `performance.now()`) or until `signal` is aborted. Gives
 * a function that leaves the queue and must be called; undefined if the waiting ended before.
 */
export async function standInLine(
  store: Pick<Store, "takeLease">,
  name: string,
  until: number,
  signal: AbortSignal | undefined,
): Promise<(() => void) | undefined> {
  const ofStore = lines.get(store) ?? new Map<string, Line>();
  lines.set(store, ofStore);
  const line = ofStore.get(name) ?? [];
  ofStore.set(name, line);
  const place = new AbortController();
  line.push(place);
  const leave = () => {
    line.splice(line.indexOf(place), 1);
    line[0]?.abort();
    if (line.length === 0) ofStore.delete(name);
  };
  const woken = signal === undefined ? place.signal : AbortSignal.any([signal, place.signal]);
  const isStopped = () => signal?.aborted === true || performance.now() >= until;
  while (line[0] !== place && !isStopped()) {
    await pause(Math.min(until - performance.now(), LONGEST_MS), woken);
  }
  if (line[0] === place && signal?.aborted !== true) return leave;
  leave();
  return undefined;
}
