/** Background work that outlives outages of the store. */

import { backOffMs, pause } from "../../async/pause.ts";
import { BackscrollError, type ErrorCode, messageOf } from "../../model/errors.ts";

/** Failures of the store that end by themselves, or when an operator acts. */
const OUTAGES: readonly ErrorCode[] = ["store_busy", "store_unavailable", "store_full"];

/** Whether the next attempt may succeed. */
export function isOutage(error: unknown): boolean {
  return BackscrollError.is(error) && OUTAGES.includes(error.code);
}

type Listener = (error: unknown) => void;

/** Passes each failure on once, and an outage once whatever its reasons, until `over`. */
export class FailureLog {
  readonly #onError: Listener;
  readonly #told = new Set<string>();

  constructor(onError: Listener) {
    this.#onError = onError;
  }

  failed(error: unknown): void {
    const kind = BackscrollError.is(error) && isOutage(error) ? error.code : messageOf(error);
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#onError(error);
  }

  /** All is well again: the next failure is told. */
  over(): void {
    this.#told.clear();
  }
}

/** The delay of the first attempt after a failure, and the longest one. */
const FIRST_MS = 1_000;
const LONGEST_MS = 10_000;

export interface KeepRunningOptions {
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Hears of a failure once, until the work has run for a while again. */
  readonly onError: Listener;
  /** Rejects with other failures. Default: waits for the end of any. */
  readonly isPassing?: (error: unknown) => boolean;
}

/**
 * Runs work that lasts until the signal is aborted, and starts it again when it has failed, with
 * exponential back-off. Resolves when the work does, when the signal is aborted, or when the store
 * is closed.
 */
export async function keepRunning(
  work: () => Promise<void>,
  { signal, onError, isPassing = () => true }: KeepRunningOptions,
): Promise<void> {
  const log = new FailureLog(onError);
  for (let attempt = 0; !signal.aborted; attempt++) {
    const started = performance.now();
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || BackscrollError.is(error, "store_closed")) return;
      if (!isPassing(error)) throw error;
      if (performance.now() - started > LONGEST_MS) {
        attempt = 0;
        log.over();
      }
      log.failed(error);
    }
    await pause(backOffMs(attempt, FIRST_MS, LONGEST_MS), signal);
  }
}
