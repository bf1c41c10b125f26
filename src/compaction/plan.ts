/** Where a compaction cuts. To be written: this file holds the contract. */

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
  /** The part of `tokens` that lies in tool results which may be shortened, by call id. */
  readonly resultTokens: ReadonlyMap<string, number>;
}

/** How much stays as it was said. */
export type KeepStrategy =
  /** The last n messages; seed 001 keeps 4, and only if there is enough to compact. */
  | { readonly keep: "messages"; readonly count: number }
  /** The newest messages that together reach this many tokens. */
  | { readonly keep: "tokens"; readonly tokens: number }
  /** The newer half of what no summary covers. */
  | { readonly keep: "half" }
  | { readonly keep: "none" };

export interface PlanOptions {
  readonly strategy: KeepStrategy;
  /** Do nothing unless there are more messages than this … */
  readonly minMessages?: number;
  /** … and at least this many tokens (seed 001: 10,000). */
  readonly minTokens?: number;
  /** What the kept part and the summary may take together; what is over is cut from tool results. */
  readonly limitTokens?: number;
  /** The tokens that the new summary is expected to take. */
  readonly summaryTokens: number;
  /** The tokens of the summary that stands before `items` now; 0 if there is none. */
  readonly previousSummaryTokens: number;
}

/** A tool result that the context shows shortened from now on. The log keeps it whole. */
export interface ResultCut {
  readonly entryId: string;
  readonly toolUseId: string;
  readonly keepTokens: number;
}

export interface CompactionPlan {
  /** The entries that the new summary covers, in order, pinned ones left out: they stay as they are. */
  readonly covered: readonly string[];
  readonly pinned: readonly string[];
  readonly from: string;
  /** The last covered entry: the summary covers up to its sequence. */
  readonly through: string;
  readonly throughSequence: number;
  /** The first entry that stays; null: none does. */
  readonly firstKeptEntryId: string | null;
  /** The cut lies inside a turn: its beginning is summarised, its end stays. */
  readonly splitTurn: boolean;
  readonly cuts: readonly ResultCut[];
  readonly tokensBefore: number;
  /** As estimated; the summary's own size is known only once it is written. */
  readonly tokensAfter: number;
}

/** Why there is no plan. */
export type NoPlan = "empty" | "below_threshold" | "nothing_before_cut";
