/** The planner's tables of a list: legal cuts and their costs. */

import { legalCuts } from "../../transcript/tool-pairs.ts";
import type { PlanItem } from "../plan-input.ts";
import { toolGroups } from "./tool-groups.ts";
import { overtaken, pendingFrom } from "./turns.ts";

/** A cut is a number from 0 to `items.length`: it lies before the item of that index. */
export interface Ground {
  readonly items: readonly PlanItem[];
  readonly legal: readonly boolean[];
  /** Pinned, in the tool group of a pinned entry, or a message that waits for its answer. */
  readonly pinned: readonly boolean[];
  /** The last cut that leaves the pending turn whole; always legal. */
  readonly lastCut: number;
  /** The number of items that a cut covers. */
  readonly covered: Int32Array;
  /** The tokens that a cut covers. */
  readonly coveredTokens: Float64Array;
  readonly totalTokens: number;
}

export function survey(items: readonly PlanItem[]): Ground {
  const legal = legalCuts(items);
  const pinned = pinnedGroups(items);
  let lastCut = pendingFrom(items);
  while (legal[lastCut] !== true) lastCut--;

  const covered = new Int32Array(items.length + 1);
  const coveredTokens = new Float64Array(items.length + 1);
  let totalTokens = 0;
  items.forEach((item, i) => {
    const free = pinned[i] !== true;
    covered[i + 1] = (covered[i] ?? 0) + (free ? 1 : 0);
    coveredTokens[i + 1] = (coveredTokens[i] ?? 0) + (free ? item.tokens : 0);
    totalTokens += item.tokens;
  });
  return { items, legal, pinned, lastCut, covered, coveredTokens, totalTokens };
}

/** The number of items that `cut` summarises. */
export function covers(ground: Ground, cut: number): number {
  return ground.covered[cut] ?? 0;
}

/** Whether a cut is legal (splits no pair) and covers something. */
export function isUsable(ground: Ground, cut: number): boolean {
  return ground.legal[cut] === true && cut <= ground.lastCut && covers(ground, cut) > 0;
}

function pinnedGroups(items: readonly PlanItem[]): boolean[] {
  const waiting = overtaken(items);
  if (!items.some((item) => item.pinned)) return items.map((_, i) => waiting.has(i));
  const groups = toolGroups(items);
  const pinned = new Set<number>();
  items.forEach((item, i) => {
    if (item.pinned) pinned.add(groups[i] as number);
  });
  return items.map((_, i) => waiting.has(i) || pinned.has(groups[i] as number));
}
