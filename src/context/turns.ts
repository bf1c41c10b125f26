/**
 * Turns: a user's message and everything up to the next one.
 *
 * A context is cut between turns: a model that sees an answer without its question has to guess the
 * question.
 */

import type { Entry } from "../model/entry.ts";
import { legalCuts, toolTraffic } from "../transcript/tool-pairs.ts";

/** A user's message without tool results: some agents store those under the user's role. */
export function startsTurn(entry: Pick<Entry, "kind" | "role" | "blocks">): boolean {
  if (entry.kind !== "message" || entry.role !== "user") return false;
  return entry.blocks.length === 0 || entry.blocks.some((block) => block.type !== "tool_result");
}

/**
 * The indices where a turn starts and the list may be cut, in order. Without a turn start (only
 * agents speak, or the start of a long turn was summarised), every legal cut counts as one.
 */
export function turnStarts(entries: readonly Entry[]): number[] {
  const legal = legalCuts(entries.map(({ blocks }) => toolTraffic(blocks)));
  const starts = entries.flatMap((entry, i) => (startsTurn(entry) && legal[i] ? [i] : []));
  if (starts.length > 0) return starts;
  return entries.flatMap((_, i) => (legal[i] ? [i] : []));
}

/** Messages between two possible starts of the window. */
const HOP_MESSAGES = 16;

/**
 * The possible starts of the window, which moves in hops: the first turn in each run of 16 messages
 * of the path. A window that moved with each turn would change the head of every prompt and miss
 * the provider's prompt cache. The starts depend on the path alone, so they need no stored state.
 * If the read part begins inside a run (`isPartial`), it is unknown whether its first turn is the
 * run's first.
 */
export function hopStarts(
  entries: readonly Entry[],
  starts: readonly number[],
  isPartial = false,
): number[] {
  let last = -1;
  return starts.filter((start, i) => {
    const index = entries[start]?.index ?? 0;
    const run = Math.floor(index / HOP_MESSAGES);
    const first = run !== last;
    last = run;
    return first && !(isPartial && i === 0 && index % HOP_MESSAGES !== 0);
  });
}
