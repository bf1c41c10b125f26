/**
 * Where a compaction cuts: what a summary will cover, what stays word for word.
 *
 * The cut is where compactions go wrong: a tool call is parted from its result, a question is
 * summarised before it is answered, or nothing is ever cut because the newest result alone is too
 * large. So it is planned here, over plain figures, and carried out elsewhere.
 */

import type { ResultCut } from "../context/cut-results.ts";
import { chooseCut } from "./cut/choose-cut.ts";
import { fitLimit } from "./cut/fit-limit.ts";
import { covers, type Ground, survey } from "./cut/ground.ts";
import { splitsTurn } from "./cut/turns.ts";
import type { PlanItem, PlanOptions } from "./plan-input.ts";

export interface CompactionPlan {
  /**
   * The entries that the new summary covers, in order, pinned ones left out: they stay as they are.
   */
  readonly covered: readonly string[];
  /**
   * What lies before the cut and stays all the same: pinned entries and their tool groups, and user
   * messages that wait for their answer behind somebody else's.
   */
  readonly pinned: readonly string[];
  readonly from: string;
  /** The last covered entry: the summary covers up to its sequence, pinned entries aside. */
  readonly through: string;
  readonly throughSequence: number;
  /** The first entry that stays; null: none does. */
  readonly firstKeptEntryId: string | null;
  /** The cut lies inside a turn: its beginning is summarised, its end stays. */
  readonly splitTurn: boolean;
  /** Tool results that the context shows shortened from now on. The log keeps them whole. */
  readonly cuts: readonly ResultCut[];
  readonly tokensBefore: number;
  /**
   * As estimated; the summary's own size is known only once it is written. Above the limit, if
   * there is one, only where the pinned part and the pending turn alone are.
   */
  readonly tokensAfter: number;
  /** What it saves, in tokens. Below 0: the summary takes more than what it stands for. */
  readonly gainTokens: number;
}

/**
 * Why there is no plan: there is nothing at all; less than the caller's minimum; or all that there
 * is is to be kept, pinned or pending.
 */
export type NoPlan = "empty" | "below_threshold" | "nothing_before_cut";

/**
 * Plans a compaction of `items`: the entries of the active path that enter the context, in order,
 * from the first entry that the previous compaction kept (with what it left pinned before that),
 * not from the compaction itself: what it kept would be lost. Compactions are left out.
 *
 * No call is parted from its result, nothing pinned is covered, and neither is a pending turn: the
 * newest user message if nobody has answered it, one that waits behind somebody else's answer, or a
 * call that still waits for results. Linear in `items` but for the sorting of results that have to be shortened.
 */
export function planCompaction(
  items: readonly PlanItem[],
  options: PlanOptions,
): { readonly plan: CompactionPlan } | { readonly none: NoPlan } {
  if (items.length === 0) return { none: "empty" };
  const ground = survey(items);
  if (isBelowThreshold(ground, options)) return { none: "below_threshold" };

  const wanted = chooseCut(ground, options.strategy);
  const { cut, cuts, tokensAfter } = fitLimit(ground, wanted, options);
  if (covers(ground, cut) === 0) return { none: "nothing_before_cut" };

  const tokensBefore = options.previousSummaryTokens + ground.totalTokens;
  const before = items.slice(0, cut);
  const covered = before.filter((_, i) => ground.pinned[i] === false);
  const first = covered[0] as PlanItem;
  const last = covered.at(-1) as PlanItem;
  return {
    plan: {
      covered: covered.map(({ id }) => id),
      pinned: before.filter((_, i) => ground.pinned[i] === true).map(({ id }) => id),
      from: first.id,
      through: last.id,
      throughSequence: last.sequence,
      firstKeptEntryId: items[cut]?.id ?? null,
      splitTurn: splitsTurn(items, cut),
      cuts,
      tokensBefore,
      tokensAfter,
      gainTokens: tokensBefore - tokensAfter,
    },
  };
}

function isBelowThreshold(ground: Ground, { minMessages, minTokens }: PlanOptions): boolean {
  let messages = 0;
  let tokens = 0;
  ground.items.forEach((item, i) => {
    if (ground.pinned[i] === true) return;
    if (item.kind === "message") messages++;
    tokens += item.tokens;
  });
  if (minMessages !== undefined && messages <= minMessages) return true;
  return minTokens !== undefined && tokens < minTokens;
}
