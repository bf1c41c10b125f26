/** The text of a message that its participants wrote; only facts from it are extracted. */

import type { Block } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";

/**
 * The entry without text that a client injected: reminders, recalled memories, known facts.
 * Undefined if no other text is left; a host's instructions do not count.
 */
export function withoutInjectedText(entry: Entry): Entry | undefined {
  if (entry.role === "system" || isInjected(entry.metadata)) return undefined;
  // An agent's own text keeps markers: it may write about them.
  const clean = (block: Block): Block =>
    block.type === "text" && entry.role !== "assistant"
      ? { ...block, text: withoutInjected(block.text) }
      : block;
  const blocks = entry.blocks.map(clean).filter(hasText);
  return blocks.length === 0 ? undefined : { ...entry, blocks };
}

function hasText(block: Block): boolean {
  if (block.type === "text") return block.text.trim() !== "";
  return block.type === "tool_use" || block.type === "tool_result";
}
