/** A shared conversation as one of its participants sees it. */

import type { Entry } from "../../model/entry.ts";

/**
 * Only what these actors wrote; null keeps all. A tool message belongs to whoever called the tool, and
 * what nobody in particular wrote (a note, a system message) is for everyone.
 */
export function keepParticipants(
  entries: readonly Entry[],
  actors: ReadonlySet<string> | null,
): readonly Entry[] {
  if (actors === null) return entries;
  const kept = new Set<string>();
  return entries.filter((entry) => {
    if (entry.role === "tool") {
      return entry.blocks.some(
        (block) => block.type === "tool_result" && kept.has(block.toolUseId),
      );
    }
    if (entry.actor !== null && !actors.has(entry.actor)) return false;
    for (const block of entry.blocks) if (block.type === "tool_use") kept.add(block.id);
    return true;
  });
}
