/** The ways of keeping that have a name. They are values for `planCompaction`, nothing more. */

import type { PlanOptions } from "./plan.ts";

export type PlanPreset = Pick<PlanOptions, "strategy" | "minMessages" | "minTokens">;

/**
 * What claw-code does: the last four messages stay, if there are more and they take 10,000 tokens.
 */
export const SEED_KEEP: PlanPreset = {
  strategy: { keep: "messages", count: 4 },
  minMessages: 4,
  minTokens: 10_000,
};

/** The default, and pi's: about 20,000 tokens stay, some tens of messages. */
export const TOKENS_KEEP: PlanPreset = { strategy: { keep: "tokens", tokens: 20_000 } };

/** The newer half stays. */
export const HALF_KEEP: PlanPreset = { strategy: { keep: "half" } };

/** Only what is pending or pinned stays. */
export const NONE_KEEP: PlanPreset = { strategy: { keep: "none" } };
