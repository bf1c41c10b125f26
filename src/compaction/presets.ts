/** The ways of keeping that have a name. They are values for `planCompaction`, nothing more. */

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

/** Only what is pending or pinned stays. */
export const NONE_KEEP: PlanPreset = { strategy: { keep: "none" } };
