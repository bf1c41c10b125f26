/**
 * Blocks: what a message is made of.
 *
 * One canonical form, whatever the provider calls it. Fields that a provider checks again later
 * (signatures, ids) are strings that come back byte for byte. A tool call's arguments are stored as text
 * and read as an object: see `tool-input.ts`.
 */

import type { JsonValue } from "./json.ts";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  /** The provider's proof of the thought, opaque to us. */
  readonly signature?: string;
}

export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  /** The arguments. A string is their text, where they are no JSON object or list, and where they are stored. */
  readonly input: JsonValue;
  /** The arguments as the model wrote them, where printing `input` would give another text. */
  readonly inputText?: string;
}

export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly toolName?: string;
  readonly output: string | readonly Block[];
  readonly isError: boolean;
}

export interface ImageBlock {
  readonly type: "image";
  readonly mediaType?: string;
  /** Base64, or `url` instead. */
  readonly data?: string;
  readonly url?: string;
}

/** A block that only its provider understands, kept as the JSON text that came. */
export interface OpaqueBlock {
  readonly type: "opaque";
  readonly provider?: string;
  readonly json: string;
}

export type Block =
  | TextBlock
  | ThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | ImageBlock
  | OpaqueBlock;

/** The fields of each block that may be large, and so may live in a blob of their own. */
export const PAYLOAD_FIELDS: Readonly<Record<Block["type"], readonly string[]>> = {
  text: ["text"],
  thinking: ["text", "signature"],
  tool_use: ["input"],
  tool_result: ["output"],
  image: ["data", "url"],
  opaque: ["json"],
};

/** What a caller may pass as a block: the canonical form, looser where the meaning is plain. */
export type BlockInput = Block | { readonly type: string; readonly [field: string]: unknown };

/** The text that a person would read in `blocks`, tool traffic left out. */
export function textOf(blocks: readonly Block[]): string {
  const [only] = blocks;
  if (blocks.length === 1) return only?.type === "text" ? only.text : "";
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The arguments as text, whichever form `call` has. */
export function inputTextOf({
  input,
  inputText,
}: Pick<ToolUseBlock, "input" | "inputText">): string {
  return inputText ?? (typeof input === "string" ? input : JSON.stringify(input));
}

/** Approximate characters in `blocks`, for memory bounds. */
export function lengthOfBlocks(blocks: readonly Block[]): number {
  let length = 0;
  for (const block of blocks) length += lengthOf(block);
  return length;
}

function lengthOf(block: Block): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.text.length + (block.signature?.length ?? 0);
    case "tool_use":
      return inputTextOf(block).length;
    case "tool_result": {
      const { output } = block;
      return typeof output === "string" ? output.length : lengthOfBlocks(output);
    }
    case "image":
      return (block.data?.length ?? 0) + (block.url?.length ?? 0);
    case "opaque":
      return block.json.length;
  }
}
