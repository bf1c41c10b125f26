/** What of a message its participants said. Facts are taken from that, and from nothing else. */

import type { Block } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";

/**
 * The entry without what a client put in by itself: reminders, recalled memories, facts that are known
 * already. Undefined if nobody said anything in it: a host's instructions are no statement.
 */
export function toldEntry(entry: Entry): Entry | undefined {
  if (entry.role === "system" || isInjected(entry.metadata)) return undefined;
  // Agents may write about the markers; what stands in their own text is theirs.
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
