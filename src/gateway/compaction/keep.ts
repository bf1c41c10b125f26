/** The verbatim part of a conversation when a policy compacts; it shrinks with each overflow. */

import type { CompactInput, KeepInput } from "../../engine/compaction/compact-options.ts";
import type { AutoPolicy } from "./auto-policy.ts";
import { compactionThreshold } from "./reserve.ts";

export type KeepPlan = Pick<CompactInput, "preset" | "keep" | "limitTokens">;

/**
 * The context must end well below the threshold, or the next turn would exceed it again. `turns`
 * has no token threshold: it keeps the newer half. `claw` keeps its number of messages.
 */
export function keepOf(policy: AutoPolicy, contextWindow: number): KeepPlan {
  switch (policy.name) {
    case "none":
    case "turns":
      return { keep: "half" };
    case "claw":
      // No token limit: claw-code keeps these messages whatever their size.
      return { preset: { name: "claw", messages: policy.messages, tokens: policy.tokens } };
    case "pi": {
      const limitTokens = Math.floor(compactionThreshold(policy, contextWindow) / 2);
      return { keep: { tokens: Math.min(policy.keepRecentTokens, limitTokens) }, limitTokens };
    }
  }
}

/**
 * By attempt: keep about a quarter of the window, then the last exchange, then only the unanswered
 * message.
 */
const LESS: readonly ((contextWindow: number) => KeepInput)[] = [
  (contextWindow) => ({ tokens: Math.floor(contextWindow / 4) }),
  () => ({ messages: 2 }),
  () => "none",
];

/** The kept part after the `attempt`-th overflow in a row, counted from 1. */
export function keepAfterOverflow(attempt: number, contextWindow: number): KeepPlan {
  const keep = LESS[Math.min(attempt, LESS.length) - 1]?.(contextWindow) ?? "none";
  return { keep, limitTokens: Math.floor(contextWindow / (attempt + 1)) };
}
