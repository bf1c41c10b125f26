/** Turns: where one begins, and which are unfinished. */

import type { EntryKind, Role } from "../../model/entry.ts";
import { type ToolTraffic, unansweredCalls } from "../../transcript/tool-pairs.ts";

/** The fields of an entry that determine its part in a turn. */
export interface TurnItem extends ToolTraffic {
  readonly id: string;
  readonly replyTo?: string;
  readonly kind: EntryKind;
  readonly role: Role | null;
}

/**
 * A user's message begins a turn, unless it carries tool results: some providers put them there.
 */
export function startsTurn(item: TurnItem): boolean {
  return item.kind === "message" && item.role === "user" && item.results.length === 0;
}

/**
 * The start of the pending turn; `items.length` if there is none. Pending is the newest user
 * message without an assistant message after it, or the last assistant message if some calls wait
 * for results and only results follow. In a group conversation only the newest message is pending,
 * because all since the last answer may exceed a context.
 */
export function pendingFrom(items: readonly TurnItem[]): number {
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
export function overtaken(items: readonly TurnItem[]): ReadonlySet<number> {
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
