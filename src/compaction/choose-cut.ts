/** The cut that a strategy wants, moved to the nearest legal one. */

import type { EntryKind, Role } from "../model/entry.ts";
import { legalCuts, type ToolTraffic, unansweredCalls } from "../transcript/tool-pairs.ts";
import type { KeepStrategy, PlanItem } from "./plan-input.ts";

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

/** The fields of an entry that determine its part in a turn. */
interface TurnItem extends ToolTraffic {
  readonly id: string;
  readonly replyTo?: string;
  readonly kind: EntryKind;
  readonly role: Role | null;
}

/**
 * A user's message begins a turn, unless it carries tool results: some providers put them there.
 */
function startsTurn(item: TurnItem): boolean {
  return item.kind === "message" && item.role === "user" && item.results.length === 0;
}

/**
 * The start of the pending turn; `items.length` if there is none. Pending is the newest user
 * message without an assistant message after it, or the last assistant message if some calls wait
 * for results and only results follow. In a group conversation only the newest message is pending,
 * because all since the last answer may exceed a context.
 */
function pendingFrom(items: readonly TurnItem[]): number {
  let last = items.length - 1;
  while (last >= 0 && isAnswerOfTool(items[last] as TurnItem)) last--;
  const open = (items[last]?.calls.length ?? 0) > 0 && unansweredCalls(items).has(last);
  if (open) return last;

  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i] as TurnItem;
    if (isAnswer(item)) break;
    if (startsTurn(item)) return i;
  }
  return items.length;
}

/**
 * User messages that still wait because the answers after them name earlier messages. A message
 * stops waiting once a later one has been answered.
 */
function overtaken(items: readonly TurnItem[]): ReadonlySet<number> {
  if (!items.some(({ replyTo }) => replyTo !== undefined)) return NONE;
  const places = new Map(items.map(({ id }, i) => [id, i]));
  let answered = -1;
  let lastAnswer = -1;
  items.forEach((item, i) => {
    if (!isAnswer(item)) return;
    lastAnswer = i;
    // A message outside the list precedes all of these.
    const place = item.replyTo === undefined ? i : (places.get(item.replyTo) ?? -1);
    answered = Math.max(answered, place);
  });
  const waiting = items.flatMap((item, i) =>
    i > answered && i < lastAnswer && startsTurn(item) ? [i] : [],
  );
  return new Set(waiting);
}

const NONE: ReadonlySet<number> = new Set();

/** Whether `cut` splits a turn: the entries up to the next user message began before it. */
export function splitsTurn(items: readonly TurnItem[], cut: number): boolean {
  for (let i = cut; i < items.length; i++) {
    const item = items[i] as TurnItem;
    if (startsTurn(item)) return false;
    if (item.kind === "message" && item.role !== "system") return cut > 0;
  }
  return false;
}

function isAnswer({ kind, role }: TurnItem): boolean {
  return kind === "message" && role === "assistant";
}

function isAnswerOfTool({ calls, results }: TurnItem): boolean {
  return results.length > 0 && calls.length === 0;
}

// Groups messages joined by tool calls (union-find): a pin holds the whole group.
//
// Messages between a call and its result, such as a user's, are not part of the group.

/**
 * The group of each message, named by the index of its first one. Pairs match as in `legalCuts`: a
 * result belongs to the nearest earlier call of its id, a call to its first result.
 */
export function toolGroups(messages: readonly ToolTraffic[]): Int32Array {
  const parent = Int32Array.from(messages, (_, i) => i);
  const root = (start: number): number => {
    let i = start;
    while (parent[i] !== i) {
      // Path halving keeps later finds short.
      parent[i] = parent[parent[i] as number] as number;
      i = parent[i] as number;
    }
    return i;
  };
  const callers = new Map<string, number>();
  messages.forEach(({ calls, results }, i) => {
    for (const id of results) {
      const caller = callers.get(id);
      if (caller === undefined) continue;
      const [a, b] = [root(caller), root(i)];
      parent[Math.max(a, b)] = Math.min(a, b);
      callers.delete(id);
    }
    for (const id of calls) callers.set(id, i);
  });
  return parent.map((_, i) => root(i));
}
