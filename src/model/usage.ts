/** Arithmetic on usage. */

import type { Usage } from "./entry.ts";

/**
 * The tokens of a call, of a session or of a sum, wherever one number stands for them: input and
 * output, cache writes and cache reads included.
 */
export function totalTokens(usage: Usage): number {
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = usage;
  return inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens;
}

/** Count by count: sum, difference or maximum. */
export function combineUsage(a: Usage, b: Usage, how: (a: number, b: number) => number): Usage {
  return {
    inputTokens: how(a.inputTokens, b.inputTokens),
    outputTokens: how(a.outputTokens, b.outputTokens),
    cacheCreationTokens: how(a.cacheCreationTokens, b.cacheCreationTokens),
    cacheReadTokens: how(a.cacheReadTokens, b.cacheReadTokens),
  };
}
