/**
 * Drops trailing thoughts.
 *
 * An assistant that was stopped while it thought leaves a turn that ends in a thought. Providers
 * that sign thoughts refuse such a turn.
 */

import type { AssistantTurn, Turn } from "./turn.ts";

/** Drops the thoughts at the end of assistant turns, and turns of thoughts alone. */
export function trimThoughts(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn): Turn[] => {
    if (turn.role !== "assistant") return [turn];
    const end = turn.blocks.findLastIndex((block) => !isThought(block)) + 1;
    if (end === turn.blocks.length) return [turn];
    return end === 0 ? [] : [{ ...turn, blocks: turn.blocks.slice(0, end) }];
  });
}

function isThought(block: AssistantTurn["blocks"][number]): boolean {
  if (block.type === "thinking") return true;
  if (block.type !== "opaque") return false;
  // Anthropic's and OpenAI's names for a sealed thought.
  return block.value["type"] === "redacted_thinking" || block.value["type"] === "reasoning";
}
