/** Waits for `ms` milliseconds, or until `signal` is aborted, whichever comes first. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/** As `pause`, with an unreferenced timer: the process may exit meanwhile. */
export function idlePause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Exponential back-off. */

/** The delay after a failure; `attempt` counts from 0. */
export function backOffMs(attempt: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** attempt);
}

/** With jitter, so that many callers do not retry at the same moment. */
export function withJitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
