/** Named `keep` values for `planCompaction`. */

import type { PlanOptions } from "./plan-input.ts";

export type PlanPreset = Pick<PlanOptions, "strategy" | "minMessages" | "minTokens">;

/** The two numbers of claw-code: the messages that stay, and the least that all of them take. */
export const CLAW_MESSAGES = 4;
export const CLAW_TOKENS = 10_000;

/** What claw-code does: the last messages stay, if there are more and they take enough tokens. */
export function clawKeep(messages: number, tokens: number): PlanPreset {
  return {
    strategy: { keep: "messages", count: messages },
    minMessages: messages,
    minTokens: tokens,
  };
}

/** The default, and pi's: about 20,000 tokens stay, some tens of messages. */
export const TOKENS_KEEP: PlanPreset = { strategy: { keep: "tokens", tokens: 20_000 } };

/** The newer half stays. */
export const HALF_KEEP: PlanPreset = { strategy: { keep: "half" } };

/** Only pending and pinned entries stay. */
export const NONE_KEEP: PlanPreset = { strategy: { keep: "none" } };
