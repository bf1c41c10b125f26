/** Arithmetic on usage. */

import type { Usage } from "./entry.ts";

/** Count by count: sum, difference or maximum. */
export function combineUsage(a: Usage, b: Usage, how: (a: number, b: number) => number): Usage {
  return {
    inputTokens: how(a.inputTokens, b.inputTokens),
    outputTokens: how(a.outputTokens, b.outputTokens),
    cacheCreationTokens: how(a.cacheCreationTokens, b.cacheCreationTokens),
    cacheReadTokens: how(a.cacheReadTokens, b.cacheReadTokens),
  };
}
