/** Retries with exponential back-off. */

import { backOffMs } from "../../async/back-off.ts";
import { pause } from "../../async/pause.ts";

export interface RetryOptions {
  /** The number of attempts. Default 6. */
  readonly attempts?: number;
  /** The first and the longest delay. Default 500 ms and 30 s. */
  readonly firstMs?: number;
  readonly maxMs?: number;
}

/** Throws the last failure, or the signal's reason as soon as it is aborted. */
export async function withRetries<Result>(
  { attempts = 6, firstMs = 500, maxMs = 30_000 }: RetryOptions = {},
  signal: AbortSignal | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await action();
    } catch (error) {
      if (attempt >= attempts) throw error;
      await pause(backOffMs(attempt - 1, firstMs, maxMs), signal);
    }
  }
}
