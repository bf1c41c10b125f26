/** Puts pinned entries first, so that no window loses them. */

import type { Entry } from "../model/entry.ts";
import { legalCuts, toolTraffic } from "../transcript/tool-pairs.ts";

/** Takes the pinned entries before `end`, each with the messages that its tool calls tie to it. */
export function liftPinned(
  entries: readonly Entry[],
  end: number,
): { readonly pinned: readonly Entry[]; readonly entries: readonly Entry[] } {
  const older = entries.slice(0, end);
  if (!older.some((entry) => entry.pinned)) return { pinned: [], entries };
  const legal = legalCuts(entries.map(({ blocks }) => toolTraffic(blocks)));
  const pinned: Entry[] = [];
  const rest: Entry[] = [];
  let group: Entry[] = [];
  older.forEach((entry, i) => {
    group.push(entry);
    if (i + 1 < end && !legal[i + 1]) return;
    (group.some((member) => member.pinned) ? pinned : rest).push(...group);
    group = [];
  });
  return { pinned, entries: [...rest, ...entries.slice(end)] };
}
