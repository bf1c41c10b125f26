/**
 * Turns: a user's message and all that followed from it.
 *
 * Where a context is cut, it is cut between turns: a model that is shown an answer without its
 * question has to guess the question.
 */

import type { Entry } from "../model/entry.ts";
import { legalCuts, toolTraffic } from "../transcript/tool-pairs.ts";

/** A message of a user, tool results aside: some agents store those under the user's role. */
export function startsTurn(entry: Pick<Entry, "kind" | "role" | "blocks">): boolean {
  if (entry.kind !== "message" || entry.role !== "user") return false;
  return entry.blocks.length === 0 || entry.blocks.some((block) => block.type !== "tool_result");
}

/**
 * The indices at which a turn starts and the list may be cut, in order. Where no turn starts, as when
 * only agents speak or the beginning of a long turn was summarised, every message that may be cut
 * off begins one.
 */
export function turnStarts(entries: readonly Entry[]): number[] {
  const legal = legalCuts(entries.map(({ blocks }) => toolTraffic(blocks)));
  const starts = entries.flatMap((entry, i) => (startsTurn(entry) && legal[i] ? [i] : []));
  if (starts.length > 0) return starts;
  return entries.flatMap((_, i) => (legal[i] ? [i] : []));
}

/** How many messages lie between two places where the window over the past may begin. */
const HOP_MESSAGES = 16;

/**
 * The places where the window may begin so that it moves in hops: the first turn in each run of 16
 * messages of the path. A window that moved with each turn would change the beginning of every
 * prompt, and no provider's prompt cache would ever hit. It depends on the path alone, so that no
 * state is needed to find the same place again: what was read may begin in the middle of a run
 * (`isPartial`), and whether its first turn is the first of the run is then not known.
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
