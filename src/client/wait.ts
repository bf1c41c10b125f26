/** Waits before a retry. */

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Exponential back-off with jitter, so that many clients do not return at once. */
export function backOff(attempt: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Ends early if one of the signals is aborted. */
export async function pause(
  ms: number,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  const given = signals.filter((signal) => signal !== undefined);
  if (given.some((signal) => signal.aborted)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, ms);
  for (const signal of given) signal.addEventListener("abort", end, { once: true });
  await promise;
  clearTimeout(timer);
  for (const signal of given) signal.removeEventListener("abort", end);
}
