/** Doing something again that may work the next time, and waiting longer each time. */

import { pause } from "../../async/pause.ts";

export interface RetryOptions {
  /** How often it is tried: 6 times if left out. */
  readonly attempts?: number;
  /** How long it waits after the first failure, and at most: 500 ms and 30 s if left out. */
  readonly firstMs?: number;
  readonly maxMs?: number;
}

/** Throws the last failure, or the reason of the signal as soon as it says to stop. */
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
      await pause(Math.min(maxMs, firstMs * 2 ** (attempt - 1)), signal);
    }
  }
}
