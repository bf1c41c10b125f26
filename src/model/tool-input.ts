/**
 * The arguments of a tool call: stored as the model's text, read as an object.
 *
 * Parsing and printing JSON loses big numbers, duplicate keys and spaces, and a provider may verify
 * the text. So the text is stored and hashed; a reader gets the parsed object, with the text beside
 * it wherever printing would differ.
 */

import { type Block, inputTextOf, type ToolUseBlock } from "./block.ts";
import type { JsonValue } from "./json.ts";

/** `call` with other arguments, in stored form. */
export function withInputText(call: ToolUseBlock, text: string): ToolUseBlock {
  const { inputText: _, ...rest } = call;
  return { ...rest, input: text };
}

/** `blocks` in stored form: every call's arguments as text. */
export function storedBlocks(blocks: readonly Block[]): readonly Block[] {
  const isStored = (block: Block) => block.type !== "tool_use" || typeof block.input === "string";
  if (blocks.every(isStored)) return blocks;
  return blocks.map((block) =>
    block.type === "tool_use" ? withInputText(block, inputTextOf(block)) : block,
  );
}

/** `block` as readers get it. Arguments that are not a JSON object or list stay text. */
export function readableBlock(block: Block): Block {
  if (block.type !== "tool_use") return block;
  const text = inputTextOf(block);
  const value = parseStructure(text);
  if (value === undefined) return block;
  const call = { ...withInputText(block, ""), input: value };
  return JSON.stringify(value) === text ? call : { ...call, inputText: text };
}

/** The text to store for a caller's input. A text beside an object is used if both are equal. */
export function givenInputText(
  input: unknown,
  inputText: unknown,
  print: (value: unknown) => string,
): string {
  if (typeof input === "string") return input;
  const printed = print(input);
  if (typeof inputText !== "string") return printed;
  const value = parseStructure(inputText);
  return value !== undefined && JSON.stringify(value) === printed ? inputText : printed;
}

function parseStructure(text: string): JsonValue | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // A model's arguments may be invalid JSON.
    return undefined;
  }
}
