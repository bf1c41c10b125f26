/**
 * An upper bound of a message's tokens in any provider's request.
 *
 * A renderer adds text: results for calls without one, tags around system text, blank lines between
 * joined texts, notes for moved images. The window is chosen by these sizes, so that the request
 * stays within the budget; `tokens` of a context counts its blocks alone.
 */

import {
  type Block,
  inputTextOf,
  type ToolResultBlock,
  type ToolUseBlock,
} from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { withInputText } from "../model/tool-input.ts";
import type { ContextMessage, ContextPart } from "./chat-model.ts";
import {
  BRIDGE_TEXT,
  LEADING_TEXT,
  LIFTED_IMAGE_TEXT,
  LIFTED_TEXT,
  MISSING_RESULT,
} from "./hygiene/repairs.ts";
import { parseArguments } from "./hygiene/turn.ts";
import { quoteBranchSummary } from "./quote.ts";
import { countBlocks, type TokenCounter } from "./tokens.ts";

/** Measures blocks and messages of one conversation. */
export interface SentSizer {
  readonly counter: TokenCounter;
  readonly block: (block: Block, role: ContextMessage["role"]) => number;
  /** A message's overhead beside its blocks. */
  readonly message: (message: Pick<ContextMessage, "role" | "blocks">) => number;
}

/** A leading user turn that a renderer may add: once per request. */
export function leadingTokens(counter: TokenCounter): number {
  return counter.countText(LEADING_TEXT);
}

/** `messages` hold every call and result that may be shown. */
export function sentSizer(
  messages: readonly Pick<ContextMessage, "blocks">[],
  counter: TokenCounter,
): SentSizer {
  const names = new Map<string, string>();
  const answered = new Set<string>();
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type === "tool_use") names.set(block.id, block.name);
      else if (block.type === "tool_result") answered.add(block.toolUseId);
    }
  }
  const bridge = names.size === 0 ? 0 : counter.countText(BRIDGE_TEXT);
  const sizeOf = (block: Block, role: ContextMessage["role"]): number => {
    switch (block.type) {
      case "text":
        return counter.countBlock(block) + JOIN_TOKENS + (isNote(role) ? NOTE_TOKENS : 0);
      case "tool_use":
        return callTokens(block, counter) + (answered.has(block.id) ? 0 : lost(block, counter));
      case "tool_result":
        return resultTokens(block, names.get(block.toolUseId) ?? "", counter);
      default:
        return counter.countBlock(block);
    }
  };
  return {
    counter,
    block: sizeOf,
    message: ({ role, blocks }) =>
      role !== "assistant" && blocks.some(({ type }) => type !== "tool_result") ? bridge : 0,
  };
}

/** Its blocks and the renderer's additions. */
function sentTokens(message: Pick<ContextMessage, "role" | "blocks">, sizer: SentSizer): number {
  let tokens = sizer.message(message);
  for (const block of message.blocks) tokens += sizer.block(block, message.role);
  return tokens;
}

/** A blank line, and rounding where texts are joined. */
const JOIN_TOKENS = 1;
/** `<system_note>` and its closing tag. */
const NOTE_TOKENS = 8;
/** The prefix `Error: `. */
const ERROR_TOKENS = 3;
/** An empty output is sent as `(no output)`. */
const NO_OUTPUT_TOKENS = 3;

function isNote(role: ContextMessage["role"]): boolean {
  return role === "system" || role === "tool";
}

/** Providers get the arguments as text, or as an object that is serialised again. */
function callTokens(block: ToolUseBlock, counter: TokenCounter): number {
  const printed = withInputText(block, JSON.stringify(parseArguments(inputTextOf(block))));
  return Math.max(counter.countBlock(block), counter.countBlock(printed)) + JOIN_TOKENS;
}

function lost({ id, name }: ToolUseBlock, counter: TokenCounter): number {
  const made = { toolUseId: id, toolName: name, output: MISSING_RESULT, isError: true };
  return resultTokens({ type: "tool_result", ...made }, name, counter);
}

function resultTokens(block: ToolResultBlock, name: string, counter: TokenCounter): number {
  const { output, isError } = block;
  const parts = typeof output === "string" ? [] : output;
  const images = parts.filter(({ type }) => type === "image").length;
  const moved = counter.countText(LIFTED_TEXT) + counter.countText(BRIDGE_TEXT);
  const lifted = images * counter.countText(LIFTED_IMAGE_TEXT) + moved;
  return (
    counter.countBlock({ ...block, toolName: name.length > 0 ? name : (block.toolName ?? "") }) +
    (typeof output === "string" ? 0 : parts.length * JOIN_TOKENS) +
    (isError ? ERROR_TOKENS : 0) +
    (images > 0 ? lifted : 0) +
    (output.length === 0 || countBlocks(parts, counter) === 0 ? NO_OUTPUT_TOKENS : 0)
  );
}

/** Messages of a context with their token counts, so that each is counted once. */
export interface Sized {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** With its upper bound after rendering. */
export interface SentSized extends Sized {
  readonly sent: number;
}

/** An entry as a message for the model. Entries without a role get the user's. */
export function fromEntry(entry: Entry, part: ContextPart, counter: TokenCounter): Sized {
  const blocks =
    entry.kind === "branch_summary"
      ? entry.blocks.map((block) =>
          block.type === "text" ? { ...block, text: quoteBranchSummary(block.text) } : block,
        )
      : entry.blocks;
  const { id, actor, model } = entry;
  const message = { role: entry.role ?? "user", actor, blocks, part, entryIds: [id], model };
  return { message, tokens: countBlocks(blocks, counter) };
}

/** A message of the host's text, from `ids`. */
export function fromText(
  text: string,
  part: ContextPart,
  ids: readonly string[],
  counter: TokenCounter,
  role: "user" | "system" = "user",
): Sized {
  const blocks = [{ type: "text", text }] as const;
  const message = { role, actor: null, blocks, part, entryIds: ids, model: null };
  return { message, tokens: countBlocks(blocks, counter) };
}

export function withSent({ message, tokens }: Sized, sizer: SentSizer): SentSized {
  return { message, tokens, sent: sentTokens(message, sizer) };
}

export function sumTokens(items: readonly Sized[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

export function sumSent(items: readonly SentSized[]): number {
  return items.reduce((sum, { sent }) => sum + sent, 0);
}
