/** A message as text for a model: its text in full, each tool call in a line. */

import { LONGEST_SECRET, maskBlock, maskText } from "../../api/mask.ts";
import { formatSpan } from "../../api/text/age.ts";
import { saidBlocks } from "../../api/text/said-blocks.ts";
import { telling } from "../../api/text/tool-call-line.ts";
import { type Block, inputTextOf, type ToolUseBlock, textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { DEFAULT_MCP_MESSAGE_BYTES } from "../../model/limits.ts";
import { cutToBytes } from "../cut-text.ts";
import { toLine, withinProject } from "./line.ts";
import { showBlocks, toBlockViews } from "./message-view.ts";

const CALL_CHARACTERS = 240;
const RESULT_CHARACTERS = 320;
const INJECTED_CHARACTERS = 120;
/** The shortest pause that is shown. */
const PAUSE_MS = 60 * 60 * 1_000;

export interface MessageStyle {
  /**
   * Shows the whole message up to so many bytes, tool traffic included. Default: the short form.
   */
  readonly bytes?: number;
  readonly agent: string;
  readonly project: string | undefined;
  /** The time of the previous message. */
  readonly after?: number;
}

export function showMessage(entry: Entry, style: MessageStyle): string {
  const { index, role, actor, createdAt } = entry;
  const who = actor === null || actor === style.agent || role === "tool" ? role : actor;
  const pause = style.after === undefined ? 0 : createdAt - style.after;
  const later = pause >= PAUSE_MS ? ` (${formatSpan(pause)} later)` : "";
  const body = entry.erased ? "(erased)" : showBody(entry, style.bytes);
  // Messages with only thinking are not shown.
  if (body === "") return "";
  return `#${index ?? "-"} ${who ?? "note"}${later}: ${withinProject(body, style.project)}`;
}

function showBody(entry: Entry, bytes: number | undefined): string {
  if (bytes !== undefined) {
    const { blocks, truncated } = toBlockViews(entry.blocks, bytes);
    return `${showBlocks(blocks)}${truncated || entry.truncated ? "\n(cut: message_bytes shows more)" : ""}`;
  }
  const shown = saidBlocks(entry)
    .map(showInShort)
    .filter((text) => text !== "");
  const injected = shown.length === 0 ? textOf(entry.blocks).trim() : "";
  // Text that a client injected as the user, such as a skill, may have thousands of words.
  return injected === ""
    ? shown.join("\n")
    : `(injected by the client) ${toLine(masked({ type: "text", text: injected }, INJECTED_CHARACTERS * 8), INJECTED_CHARACTERS)}`;
}

function showInShort(block: Block): string {
  switch (block.type) {
    case "text":
      return cutToBytes(masked(block, DEFAULT_MCP_MESSAGE_BYTES).trim(), DEFAULT_MCP_MESSAGE_BYTES);
    // Thinking and provider data are left out.
    case "thinking":
    case "opaque":
      return "";
    case "tool_use":
      return showCall(maskBlock(block) as ToolUseBlock);
    case "tool_result": {
      const { output, toolName, isError } = block;
      const text = typeof output === "string" ? output : textOf(output);
      const shown = toLine(
        masked({ type: "text", text }, RESULT_CHARACTERS * 8),
        RESULT_CHARACTERS,
      );
      return `← ${maskText(toolName ?? "result")}${isError ? " (failed)" : ""} ${shown}`;
    }
    case "image":
      return "(image)";
  }
}

function masked(block: Extract<Block, { type: "text" }>, bytes: number): string {
  const near = { ...block, text: block.text.slice(0, bytes + LONGEST_SECRET) };
  const cut = maskBlock(near);
  const text = cut.type === "text" ? cut.text : "";
  return near.text.length < block.text.length ? `${text}…` : text;
}

function showCall(block: ToolUseBlock): string {
  const input = inputTextOf(block);
  return `→ ${block.name} ${toLine(telling(input) ?? input, CALL_CHARACTERS)}`;
}
