/**
 * Blocks: the content of a message.
 *
 * One canonical form for all providers. Fields that a provider verifies (signatures, ids) are
 * strings that round-trip byte for byte. A tool call's arguments are stored as text and read as an
 * object: see `tool-input.ts`.
 */

import type { JsonValue } from "./json.ts";
import type { Special } from "./shape.ts";

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  /** The provider's signature of the thought, opaque to us. */
  readonly signature?: string;
}

export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  /**
   * The arguments. A string is their text: in storage, and where they are not a JSON object or
   * list.
   */
  readonly input: JsonValue;
  /** The model's text of the arguments, where printing `input` would differ. */
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

/** A provider's own block, kept as its JSON text. */
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

export const BLOCK: Special<Block> = { special: "block" };

/** The fields of each block that may be large, and move to a blob. */
export const PAYLOAD_FIELDS: Readonly<Record<Block["type"], readonly string[]>> = {
  text: ["text"],
  thinking: ["text", "signature"],
  tool_use: ["input"],
  tool_result: ["output"],
  image: ["data", "url"],
  opaque: ["json"],
};

/** A caller's block: the canonical form, looser where unambiguous. */
export type BlockInput = Block | { readonly type: string; readonly [field: string]: unknown };

/** The readable text of `blocks`, without tool traffic. */
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
