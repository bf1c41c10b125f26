/** Arithmetic on what model calls took. */

import type { Usage } from "./entry.ts";

/** Count by count: the sum, the difference, the greater one. */
export function combineUsage(a: Usage, b: Usage, how: (a: number, b: number) => number): Usage {
  return {
    inputTokens: how(a.inputTokens, b.inputTokens),
    outputTokens: how(a.outputTokens, b.outputTokens),
    cacheCreationTokens: how(a.cacheCreationTokens, b.cacheCreationTokens),
    cacheReadTokens: how(a.cacheReadTokens, b.cacheReadTokens),
  };
}
