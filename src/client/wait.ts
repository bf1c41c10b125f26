/** Waits before a retry. */

import { backOffMs, withJitter } from "../async/pause.ts";

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

export function backOff(attempt: number): number {
  return withJitter(backOffMs(attempt, FIRST_MS, LONGEST_MS));
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
