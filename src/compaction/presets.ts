/** Named `keep` values for `planCompaction`. */

import { COMPACTION } from "../model/compaction-numbers.ts";
import type { PlanOptions } from "./plan-input.ts";

export type PlanPreset = Pick<PlanOptions, "strategy" | "minMessages" | "minTokens">;

/** claw-code's rule: the last messages stay, if there are more and they have enough tokens. */
export function clawKeep(messages: number, tokens: number): PlanPreset {
  return {
    strategy: { keep: "messages", count: messages },
    minMessages: messages,
    minTokens: tokens,
  };
}

/** The default, as in pi: some tens of messages stay. */
export const TOKENS_KEEP: PlanPreset = {
  strategy: { keep: "tokens", tokens: COMPACTION.keepTokens },
};

/** The newer half stays. */
export const HALF_KEEP: PlanPreset = { strategy: { keep: "half" } };

/** Only pending and pinned entries stay. */
export const NONE_KEEP: PlanPreset = { strategy: { keep: "none" } };
