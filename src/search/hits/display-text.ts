/** The text of a message in a window. */

import { type Block, inputTextOf, textOf } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import { withoutInjected } from "../document/injected.ts";

/** The message's text, or its tool use if it has none; without injected text. */
export function displayText(blocks: readonly Block[], role: Role | null): string {
  const text = textOf(blocks);
  if (text === "") return toolTextOf(blocks);
  if (role === "assistant" || !text.includes("<")) return text;
  const said = withoutInjected(text).trim();
  // Falls back to the injected text if there is no other.
  return said === "" ? text : said;
}

export function toolTextOf(blocks: readonly Block[]): string {
  return blocks.flatMap(toolText).join("\n");
}

/**
 * Tool text as it is indexed, every offset unchanged: the escapes of a call's JSON strings are
 * blanked, so that the word in `"\\njobs"` is "jobs". Outputs are no JSON.
 */
export function asIndexed(toolText: string, blocks: readonly Block[]): string {
  if (!blocks.some(({ type }) => type === "tool_use")) return toolText;
  return toolText.replace(/\\["\\/bfnrt]/g, "  ");
}

export function toolNameOf(blocks: readonly Block[]): string | null {
  for (const block of blocks) {
    if (block.type === "tool_use") return block.name;
    if (block.type === "tool_result" && block.toolName !== undefined) return block.toolName;
  }
  return null;
}

function toolText(block: Block): string[] {
  if (block.type === "tool_use") return [`${block.name}(${inputTextOf(block)})`];
  if (block.type !== "tool_result") return [];
  const { toolName, output } = block;
  const text = typeof output === "string" ? output : textOf(output);
  if (text.trim() === "") return [];
  return [toolName === undefined ? text : `${toolName}: ${text}`];
}
