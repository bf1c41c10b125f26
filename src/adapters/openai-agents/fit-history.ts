/** The newest part of a conversation that fits a budget and that a model accepts. */

import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { isPlainObject } from "../../model/json.ts";
import { toItemJson } from "./item-json.ts";
import type { AgentItem } from "./sdk-types.ts";

export interface FitHistoryOptions {
  /** Tokens of history, estimated as a quarter of the bytes of its JSON. */
  readonly tokenBudget: number;
}

/**
 * A `sessionInputCallback`: the newest whole turns within the budget, then the new items. A turn
 * begins with a message of the user, so that results stay with their calls and items with their
 * reasoning. A provider's compaction starts the history, and is always included.
 */
export function fitHistory(
  options: FitHistoryOptions,
): (history: AgentItem[], added: AgentItem[]) => AgentItem[] {
  const { tokenBudget } = checkFields(options, "options", INPUTS.fitHistory);
  return (history, added) => [...fitItems(history, tokenBudget), ...added];
}

/** The newest turn is kept, whatever its size. */
export function fitItems(items: readonly AgentItem[], tokenBudget: number): AgentItem[] {
  const sealed = items.findLastIndex(
    (item) => isPlainObject(item) && item["type"] === "compaction",
  );
  const head = sealed < 0 ? [] : [items[sealed]];
  let left = tokenBudget - tokensOf(head);
  let start = items.length;
  let cost = 0;
  let isFirst = true;
  for (let i = items.length - 1; i > sealed; i--) {
    cost += tokensOf([items[i]]);
    if (!startsTurn(items[i]) && i > sealed + 1) continue;
    if (cost > left && !isFirst) break;
    left -= cost;
    cost = 0;
    start = i;
    isFirst = false;
  }
  return [...head, ...withoutOrphans(items.slice(start))];
}

function startsTurn(item: AgentItem): boolean {
  return isPlainObject(item) && item["role"] === "user";
}

/** Drops results without a call: their turn had lost its beginning before. */
function withoutOrphans(items: readonly AgentItem[]): AgentItem[] {
  const called = new Set<unknown>();
  return items.filter((item) => {
    if (!isPlainObject(item) || typeof item["callId"] !== "string") return true;
    const isResult = /_(?:result|output)$/.test(String(item["type"]));
    if (!isResult) called.add(item["callId"]);
    return !isResult || called.has(item["callId"]);
  });
}

function tokensOf(items: readonly AgentItem[]): number {
  return items.reduce(
    (sum: number, item) => sum + Math.ceil(Buffer.byteLength(JSON.stringify(toItemJson(item))) / 4),
    0,
  );
}
