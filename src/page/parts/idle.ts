const FALLBACK_MS = 500;

/**
 * Runs `work` when the browser is idle; after a delay in browsers without `requestIdleCallback`.
 */
export function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(work);
  else setTimeout(work, FALLBACK_MS);
}
