/**
 * Shows tool results without a call as text.
 *
 * No provider accepts a result without its call, so a renderer would drop it. It may be all that a
 * session has.
 */

import type { Block, ToolResultBlock } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { outputText } from "./cut-block.ts";

/** Returns the same array if there is nothing to change. */
export function orphansAsText(entries: readonly Entry[]): readonly Entry[] {
  const called = new Set<string>();
  let isChanged = false;
  const told = entries.map((entry) => {
    const orphans = entry.blocks.filter(
      (block) => block.type === "tool_result" && !called.has(block.toolUseId),
    );
    for (const block of entry.blocks) if (block.type === "tool_use") called.add(block.id);
    if (orphans.length === 0) return entry;
    isChanged = true;
    const lost = new Set<Block>(orphans);
    const blocks = entry.blocks.map((block) =>
      block.type === "tool_result" && lost.has(block) ? tell(block) : block,
    );
    return { ...entry, blocks };
  });
  return isChanged ? told : entries;
}

function tell(result: ToolResultBlock): Block {
  const name = result.toolName ?? "";
  const tool = name === "" ? "a tool" : name;
  const words = outputText(result);
  const text = `[result of a call to ${tool} that is not here]\n${words === "" ? "(no output)" : words}`;
  return { type: "text", text };
}
