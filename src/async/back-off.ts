/** Exponential back-off. */

/** The delay after a failure; `attempt` counts from 0. */
export function backOffMs(attempt: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** attempt);
}

/** With jitter, so that many callers do not retry at the same moment. */
export function withJitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
