/**
 * Makes the write-ahead log durable, where it costs least.
 *
 * Handing a sync to the background and its end back costs half as much as a quick device takes for
 * the sync itself. So while the device has been quick, the host's thread syncs by itself. A device
 * that is not, or no longer, is synced in the background, where it stalls nobody.
 *
 * Nobody can know beforehand that a sync will be slow. One that kept the host waiting sends the
 * following ones to the background for a hundred times as long as it took: whatever the device does,
 * stalls take at most a hundredth of the host's time.
 */

import { fdatasync, fdatasyncSync } from "node:fs";

/** What the device usually takes must be less than this for the host to wait for it. */
const QUICK_MS = 0.4;
/** One that takes this long is a stall: no more than a hundredth of the host's turns may. */
const STALL_MS = 5;
/** How much longer than a stall the host then keeps away from the device. */
const REST = 100;
/** How much the newest sync counts in what the device usually takes. */
const WEIGHT = 0.1;

/** The system's calls; tests hand in devices and clocks of their own. */
export interface SyncCalls {
  now(): number;
  here(file: number): void;
  inBackground(file: number, done: (error: Error | null) => void): void;
}

const SYSTEM: SyncCalls = {
  now: () => performance.now(),
  here: fdatasyncSync,
  inBackground: fdatasync,
};

export class LogSync {
  readonly #calls: SyncCalls;
  /** Unknown until the first sync, which is therefore made in the background. */
  #usualMs = Number.POSITIVE_INFINITY;
  #restUntil = 0;

  constructor(calls: SyncCalls = SYSTEM) {
    this.#calls = calls;
  }

  /** Undefined when `file` is durable now, else resolves when it is. Throws or rejects if it cannot be. */
  sync(file: number): Promise<void> | undefined {
    const start = this.#calls.now();
    if (this.#usualMs >= QUICK_MS || start < this.#restUntil)
      return this.#inBackground(file, start);
    this.#calls.here(file);
    const ms = this.#measured(start);
    if (ms >= STALL_MS) this.#restUntil = start + ms + REST * ms;
    return undefined;
  }

  #inBackground(file: number, start: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#calls.inBackground(file, (error) => {
        this.#measured(start);
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  #measured(start: number): number {
    const ms = this.#calls.now() - start;
    const known = Number.isFinite(this.#usualMs);
    this.#usualMs = known ? this.#usualMs + WEIGHT * (ms - this.#usualMs) : ms;
    return ms;
  }
}
