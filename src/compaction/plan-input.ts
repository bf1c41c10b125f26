/** The planner's input: the path as figures, and the caller's wishes. */

import { COMPACTION } from "../model/compaction-numbers.ts";
import type { EntryKind, Role } from "../model/entry.ts";
import type { ToolTraffic } from "../transcript/tool-pairs.ts";

/** An entry of the path as the planner sees it, without content. */
export interface PlanItem extends ToolTraffic {
  readonly id: string;
  readonly sequence: number;
  /** Only kinds that enter the context; compactions are left out. */
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly tokens: number;
  readonly pinned: boolean;
  /** The message that an answer answers. Default: all before it. */
  readonly replyTo?: string;
  /** The part of `tokens` in tool results that may be shortened, by call id. */
  readonly resultTokens: ReadonlyMap<string, number>;
}

/** The part that stays verbatim. */
export type KeepStrategy =
  /** The last n messages; claw-code keeps 4, and only if there is enough to compact. */
  | { readonly keep: "messages"; readonly count: number }
  /** The newest messages that together reach this many tokens. */
  | { readonly keep: "tokens"; readonly tokens: number }
  /** The newer half of the unsummarised messages; at least one message is covered. */
  | { readonly keep: "half" }
  | { readonly keep: "none" };

export interface PlanOptions {
  readonly strategy: KeepStrategy;
  /** Minimum of unpinned messages for a plan (exclusive) … */
  readonly minMessages?: number;
  /** … and of their tokens (inclusive). */
  readonly minTokens?: number;
  /**
   * The limit of summary, pinned and kept part together. The excess is cut from the largest tool
   * results; if that does not suffice, fewer messages are kept.
   */
  readonly limitTokens?: number;
  /** The expected tokens of the new summary. */
  readonly summaryTokens: number;
  /** The tokens of the current summary before `items`; 0 without one. */
  readonly previousSummaryTokens: number;
}

// Named `keep` values for `planCompaction`.

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
