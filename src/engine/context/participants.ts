/** A shared conversation from one participant's side. */

import type { Entry } from "../../model/entry.ts";

/**
 * Keeps the messages of these actors; null keeps all. A tool message belongs to the caller of the
 * tool; messages without an actor (notes, system messages) are kept.
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
