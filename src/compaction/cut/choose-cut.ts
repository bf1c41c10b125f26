/** The cut that a strategy wants, moved to the nearest legal one. */

import type { KeepStrategy, PlanItem } from "../plan-input.ts";
import { type Ground, isUsable } from "./ground.ts";
import { startsTurn } from "./turns.ts";

/**
 * The cut of `strategy`; 0 if nothing can be covered. If no legal cut precedes the wanted one, the
 * next later one is taken and fewer messages are kept; otherwise a single huge tool result would
 * block every compaction.
 */
export function chooseCut(ground: Ground, strategy: KeepStrategy): number {
  const wanted = Math.min(wantedCut(ground, strategy), ground.lastCut);
  if (ground.covered[wanted] === 0) return 0;
  const near =
    strategy.keep === "tokens"
      ? nearTokens(ground, wanted, strategy.tokens)
      : lastUsable(ground, wanted);
  return near ?? firstUsable(ground, wanted + 1, ground.lastCut) ?? 0;
}

function wantedCut(ground: Ground, strategy: KeepStrategy): number {
  switch (strategy.keep) {
    case "messages":
      return beforeNewest(ground.items, strategy.count);
    case "tokens":
      return beforeTokens(ground.items, strategy.tokens);
    case "half":
      return afterOlderHalf(ground);
    case "none":
      return ground.items.length;
  }
}

/** Before the newest `count` messages; other entries do not count. */
function beforeNewest(items: readonly PlanItem[], count: number): number {
  let cut = items.length;
  for (let seen = 0; seen < count && cut > 0; ) {
    cut--;
    if (items[cut]?.kind === "message") seen++;
  }
  return cut;
}

/** Before the newest items that together reach `tokens`; 0 if all together do not. */
function beforeTokens(items: readonly PlanItem[], tokens: number): number {
  let cut = items.length;
  for (let sum = 0; sum < tokens && cut > 0; ) {
    cut--;
    sum += items[cut]?.tokens ?? 0;
  }
  return cut;
}

/** After the older half of the messages that can be covered, rounded down, at least one. */
function afterOlderHalf({ items, pinned }: Ground): number {
  const isCounted = (item: PlanItem, i: number) => item.kind === "message" && pinned[i] === false;
  const half = Math.max(1, Math.floor(items.filter(isCounted).length / 2));
  let cut = 0;
  for (let seen = 0; seen < half && cut < items.length; cut++) {
    if (isCounted(items[cut] as PlanItem, cut)) seen++;
  }
  return cut;
}

/**
 * A turn is kept whole if that exceeds the budget by at most this share. Longer turns are split: an
 * agent can work for hours in one turn.
 */
const TURN_SLACK = 1 / 4;

function nearTokens(ground: Ground, wanted: number, budget: number): number | undefined {
  const { items } = ground;
  let start = wanted;
  for (let spare = budget * TURN_SLACK; start > 0 && start < items.length; start--) {
    if (startsTurn(items[start] as PlanItem)) {
      if (isUsable(ground, start)) return start;
      break;
    }
    spare -= items[start - 1]?.tokens ?? 0;
    if (spare < 0) break;
  }
  // Keeps at least one item: a token budget must not cover the whole list.
  const end = wanted < items.length ? items.length - 1 : items.length;
  return firstUsable(ground, wanted, end) ?? lastUsable(ground, wanted);
}

function firstUsable(ground: Ground, from: number, end: number): number | undefined {
  for (let cut = from; cut <= end; cut++) if (isUsable(ground, cut)) return cut;
  return undefined;
}

function lastUsable(ground: Ground, from: number): number | undefined {
  for (let cut = from; cut > 0; cut--) if (isUsable(ground, cut)) return cut;
  return undefined;
}
