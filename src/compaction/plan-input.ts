/** The planner's input: the path as figures, and the caller's wishes. */

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
