/**
 * Plans where a compaction cuts: the summary covers the entries before the cut; those after it stay
 * verbatim.
 *
 * A good cut keeps a tool call with its result, keeps an unanswered question, and exists even if
 * the newest result alone is too large. The plan is a pure function over figures; the engine
 * carries it out.
 */

import type { COMPACTION_PLAN } from "../model/answers/context.ts";
import type { FieldsOf } from "../model/shape.ts";
import { chooseCut } from "./cut/choose-cut.ts";
import { fitLimit } from "./cut/fit-limit.ts";
import { covers, type Ground, survey } from "./cut/ground.ts";
import { splitsTurn } from "./cut/turns.ts";
import type { PlanItem, PlanOptions } from "./plan-input.ts";

export interface CompactionPlan extends FieldsOf<typeof COMPACTION_PLAN> {}

/**
 * Why there is no plan: no messages; fewer than the caller's minimum; or all are kept, pinned or
 * pending.
 */
export type NoPlan = "empty" | "below_threshold" | "nothing_before_cut";

/**
 * Plans a compaction of `items`: the entries of the active path that enter the context, in order,
 * from the first entry that the previous compaction kept (with the pinned entries before that), not
 * from the compaction itself, which would lose the entries that it kept. Compactions are left out.
 *
 * A plan never splits a call from its result and never covers pinned entries or a pending turn: an
 * unanswered newest user message, one that waits behind another user's answer, or a call that waits
 * for results. Linear in `items`, except for sorting the results to shorten.
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
