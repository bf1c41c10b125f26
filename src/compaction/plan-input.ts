/** What a compaction is planned from: the path in plain figures, and what the caller wants to keep. */

import type { EntryKind, Role } from "../model/entry.ts";
import type { ToolTraffic } from "../transcript/tool-pairs.ts";

/** An entry of the path as the planner sees it: no content, only what decides. */
export interface PlanItem extends ToolTraffic {
  readonly id: string;
  readonly sequence: number;
  /** Only kinds that enter the context; compactions are left out. */
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly tokens: number;
  readonly pinned: boolean;
  /** The one message that an answer answers; if left out, all messages before it. */
  readonly replyTo?: string;
  /** The part of `tokens` that lies in tool results which may be shortened, by call id. */
  readonly resultTokens: ReadonlyMap<string, number>;
}

/** How much stays as it was said. */
export type KeepStrategy =
  /** The last n messages; claw-code keeps 4, and only if there is enough to compact. */
  | { readonly keep: "messages"; readonly count: number }
  /** The newest messages that together reach this many tokens. */
  | { readonly keep: "tokens"; readonly tokens: number }
  /** The newer half of the messages that no summary covers; at least one message is covered. */
  | { readonly keep: "half" }
  | { readonly keep: "none" };

export interface PlanOptions {
  readonly strategy: KeepStrategy;
  /** No plan unless there are more unpinned messages than this … */
  readonly minMessages?: number;
  /** … and at least this many tokens in them. */
  readonly minTokens?: number;
  /**
   * The limit of summary, pinned and kept part together. The excess is cut from the largest tool
   * results; if that is not enough, fewer messages are kept.
   */
  readonly limitTokens?: number;
  /** The tokens that the new summary is expected to take. */
  readonly summaryTokens: number;
  /** The tokens of the summary that stands before `items` now; 0 if there is none. */
  readonly previousSummaryTokens: number;
}
