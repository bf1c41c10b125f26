/**
 * Retries with exponential back-off, for rate-limited providers.
 *
 * A failure has the fields of the AI SDK's errors: `statusCode` and `responseHeaders`. Retried are
 * 408, 409, 425, 429, 5xx and lost connections; other statuses are permanent.
 */

import { backOffMs, withJitter } from "../../async/back-off.ts";
import { pause } from "../../async/pause.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface Retries {
  readonly maxRetries: number;
  readonly signal: AbortSignal;
  readonly onRetry: () => void;
}

/** Throws the last failure. An aborted pause throws the signal's reason. */
export async function callWithRetries<Result>(
  { maxRetries, signal, onRetry }: Retries,
  call: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= maxRetries || !isPassing(error)) throw error;
      const backOff = withJitter(backOffMs(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
      await pause(retryAfterMs(error) ?? backOff, signal);
      onRetry();
    }
  }
}

function isPassing(error: unknown): boolean {
  const status = (error as { readonly statusCode?: unknown })?.statusCode;
  // No status means no answer.
  if (typeof status !== "number") return true;
  return [408, 409, 425, 429].includes(status) || status >= 500;
}

/** `Retry-After`, in seconds or as a date; at most `LONGEST_PAUSE_MS`. */
export function retryAfterMs(error: unknown, now: number = Date.now()): number | undefined {
  const headers = (error as { readonly responseHeaders?: Record<string, string> })?.responseHeaders;
  const given = headers?.["retry-after"]?.trim();
  if (given === undefined || given === "") return undefined;
  const ms = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - now;
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_PAUSE_MS, Math.max(0, ms));
}
