/** Fits the kept part to a limit: shortens tool results first, then keeps fewer messages. */

import { LEAST_RESULT_TOKENS, type ResultCut } from "../../context/cut-results.ts";
import type { PlanItem, PlanOptions } from "../plan-input.ts";
import { type Ground, isUsable } from "./ground.ts";

export interface Fit {
  readonly cut: number;
  readonly cuts: readonly ResultCut[];
  readonly tokensAfter: number;
}

/**
 * The first cut from `wanted` on whose kept part fits, with the results to shorten. If none fits,
 * the last possible cut with everything shortened. A `wanted` of 0 stays 0 unless the current
 * context exceeds the limit.
 */
export function fitLimit(ground: Ground, wanted: number, options: PlanOptions): Fit {
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
