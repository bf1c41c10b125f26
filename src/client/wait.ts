/** Waiting before another try. */

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Twice as long each time, and never quite the same: many clients must not come back at once. */
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
