/** What a message looks like in a window: what was said, and what its tools did. */

import { type Block, textOf } from "../../model/block.ts";

/** What was said; what its tools did where nothing was. */
export function displayText(blocks: readonly Block[]): string {
  const said = textOf(blocks);
  return said === "" ? toolTextOf(blocks) : said;
}

export function toolTextOf(blocks: readonly Block[]): string {
  return blocks.flatMap(toolText).join("\n");
}

export function toolNameOf(blocks: readonly Block[]): string | null {
  for (const block of blocks) {
    if (block.type === "tool_use") return block.name;
    if (block.type === "tool_result" && block.toolName !== undefined) return block.toolName;
  }
  return null;
}

function toolText(block: Block): string[] {
  if (block.type === "tool_use") return [`${block.name}(${block.input})`];
  if (block.type !== "tool_result") return [];
  if (typeof block.output === "string") return [block.output];
  return block.output.flatMap((inner) => (inner.type === "text" ? [inner.text] : []));
}
