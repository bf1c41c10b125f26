/**
 * Plans where a compaction cuts: the summary covers the entries before the cut; those after it stay
 * verbatim.
 *
 * A good cut keeps a tool call with its result, keeps an unanswered question, and exists even if
 * the newest result alone is too large. The plan is a pure function over figures; the engine
 * carries it out.
 */

import { LEAST_RESULT_TOKENS, type ResultCut } from "../context/cut-results.ts";
import type { COMPACTION_PLAN } from "../model/answers/context.ts";
import type { FieldsOf } from "../model/shape.ts";
import { chooseCut, covers, type Ground, isUsable, splitsTurn, survey } from "./choose-cut.ts";
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

/** Fits the kept part to a limit: shortens tool results first, then keeps fewer messages. */
interface Fit {
  readonly cut: number;
  readonly cuts: readonly ResultCut[];
  readonly tokensAfter: number;
}

/**
 * The first cut from `wanted` on whose kept part fits, with the results to shorten. If none fits,
 * the last possible cut with everything shortened. A `wanted` of 0 stays 0 unless the current
 * context exceeds the limit.
 */
function fitLimit(ground: Ground, wanted: number, options: PlanOptions): Fit {
  const limit = options.limitTokens ?? Number.POSITIVE_INFINITY;
  const summary = options.summaryTokens;
  const staying = (cut: number) => ground.totalTokens - (ground.coveredTokens[cut] ?? 0);

  const isEnough = options.previousSummaryTokens + ground.totalTokens <= limit;
  if (wanted === 0 && isEnough) return { cut: 0, cuts: [], tokensAfter: ground.totalTokens };
  if (summary + staying(wanted) <= limit && wanted > 0) {
    return { cut: wanted, cuts: [], tokensAfter: summary + staying(wanted) };
  }

  const spare = spareTokens(ground);
  let cut = wanted;
  for (let next = wanted; next <= ground.lastCut; next++) {
    if (!isUsable(ground, next)) continue;
    cut = next;
    if (summary + staying(cut) - (spare[cut] ?? 0) <= limit) break;
  }
  const tokens = summary + staying(cut);
  const cuts = shorten(ground, cut, tokens - limit);
  const saved = cuts.reduce((sum, { saved }) => sum + saved, 0);
  return { cut, cuts: cuts.map(({ result }) => result), tokensAfter: tokens - saved };
}

/** By cut: tokens that can be cut from kept results. Pinned entries stay whole. */
function spareTokens({ items, pinned }: Ground): Float64Array {
  const spare = new Float64Array(items.length + 1);
  for (let i = items.length - 1; i >= 0; i--) {
    let own = 0;
    if (pinned[i] === false) {
      for (const tokens of (items[i] as PlanItem).resultTokens.values()) {
        own += Math.max(0, tokens - LEAST_RESULT_TOKENS);
      }
    }
    spare[i] = (spare[i + 1] ?? 0) + own;
  }
  return spare;
}

/**
 * Takes `excess` tokens from the results after `cut`, the largest first; of equal ones the older.
 */
function shorten(
  ground: Ground,
  cut: number,
  excess: number,
): { result: ResultCut; saved: number }[] {
  const results = ground.items.slice(cut).flatMap((item, i) => {
    if (ground.pinned[cut + i] === true) return [];
    return [...item.resultTokens].map(([toolUseId, tokens]) => ({
      entryId: item.id,
      toolUseId,
      tokens,
    }));
  });
  results.sort((a, b) => b.tokens - a.tokens);

  const cuts: { result: ResultCut; saved: number }[] = [];
  let left = excess;
  for (const { entryId, toolUseId, tokens } of results) {
    if (left <= 0 || tokens <= LEAST_RESULT_TOKENS) break;
    const saved = Math.min(left, tokens - LEAST_RESULT_TOKENS);
    cuts.push({ result: { entryId, toolUseId, keepTokens: tokens - saved }, saved });
    left -= saved;
  }
  return cuts;
}
