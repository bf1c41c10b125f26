/** A session's status in a few lines, for a chat. */

import { formatCount } from "../../model/format-count.ts";
import type { SessionStatus } from "./session-status.ts";

export function formatSessionStatus(status: SessionStatus, timeZone: string): string {
  const { contextTokens, window, estimated, compactionCount, nextReset } = status;
  const percent = Math.round((contextTokens / window.tokens) * 100);
  const times = compactionCount === 1 ? "once" : `${compactionCount} times`;
  const when = (ms: number) => new Date(ms).toLocaleString("sv-SE", { timeZone }).slice(0, 16);
  return [
    `Session ${status.sessionId}${status.key === null ? "" : ` (${status.key})`}`,
    `Context ${formatCount(contextTokens)} of ${formatCount(window.tokens)} tokens (${percent} %${estimated ? ", estimated" : ""}), compacted ${compactionCount === 0 ? "never" : times}`,
    ...(status.memoryFlushAt === null ? [] : [`Notes written ${when(status.memoryFlushAt)}`]),
    `Reset ${status.resetRule}${nextReset === null ? "" : `; next ${when(nextReset.at)}`}`,
  ].join("\n");
}
