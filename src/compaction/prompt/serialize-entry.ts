/** Serialises an entry for a summarizer: id, role, text, and shortened tool traffic. */

import { type Block, inputTextOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { outputText } from "../digest/timeline.ts";

/** Characters of a tool's arguments or result: enough to see what happened, without whole files. */
export const MAX_TOOL_CHARACTERS = 2_000;

/** Leaves out thinking and opaque blocks. */
export function serializeEntry({ id, kind, role, blocks }: Entry): string {
  const who = kind === "message" ? (role ?? "system") : kind;
  const parts = blocks.map(serializeBlock).filter((part) => part.trim() !== "");
  return `[${id}] ${who}:\n${parts.join("\n")}`.toWellFormed();
}

function serializeBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "tool_use":
      return `(calls ${block.name}: ${cut(inputTextOf(block))})`;
    case "tool_result": {
      const name = block.toolName === undefined ? "" : ` of ${block.toolName}`;
      return `(${block.isError ? "error" : "result"}${name}: ${cut(outputText(block))})`;
    }
    case "image":
      return "(an image)";
    case "thinking":
    case "opaque":
      return "";
  }
}

function cut(text: string): string {
  if (text.length <= MAX_TOOL_CHARACTERS) return text;
  const head = text.slice(0, MAX_TOOL_CHARACTERS).toWellFormed();
  return `${head} … ${text.length - MAX_TOOL_CHARACTERS} more characters`;
}
