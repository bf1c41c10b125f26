/** The indexed text of tool calls and their results. */

import {
  type Block,
  inputTextOf,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from "../../model/block.ts";
import { LONGEST_SECRET, redact } from "../../secrets/redact.ts";
import { withoutInjected } from "./injected.ts";
import { isOwnTool } from "./own-tools.ts";

/**
 * Indexed length at each end of a tool's output, in UTF-16 units: results are at the start, errors
 * at the end. The middle is not searchable.
 */
export const OUTPUT_END: number = 16 * 1024;

/** Longer arguments are indexed as raw text. */
export const MAX_PARSED_INPUT: number = 64 * 1024;

/**
 * The values of a call's arguments, a line each, without parameter names and JSON escapes, which
 * would join `\n` with the next word.
 */
export function inputText(call: Pick<ToolUseBlock, "input" | "inputText">): string {
  const input = inputTextOf(call);
  if (input.length > MAX_PARSED_INPUT) return input;
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch (error) {
    if (error instanceof SyntaxError) return input;
    throw error;
  }
  const values: string[] = [];
  addValues(value, values);
  return values.join("\n");
}

function addValues(value: unknown, into: string[]): void {
  if (typeof value === "string") into.push(value);
  else if (typeof value === "number") into.push(String(value));
  else if (Array.isArray(value)) for (const each of value) addValues(each, into);
  else if (typeof value === "object" && value !== null) {
    for (const each of Object.values(value)) addValues(each, into);
  }
}

/** The texts of a tool's output; none for our own tools. */
export function outputTexts({ output, toolName }: ToolResultBlock): string[] {
  if (toolName !== undefined && isOwnTool(toolName)) return [];
  if (typeof output === "string") return [output];
  return output.flatMap((block: Block) => (block.type === "text" ? [textOf([block])] : []));
}

export function isLongOutput(text: string): boolean {
  return text.length > 2 * OUTPUT_END;
}

/** Both ends of a long output, all of a short one, with secrets masked. */
export function endsOf(text: string): string[] {
  if (!isLongOutput(text)) return [masked(text)];
  // A private key's header may precede the kept tail.
  const whole = text.includes("PRIVATE KEY") ? redact(text).text : text;
  const head = masked(whole.slice(0, OUTPUT_END + LONGEST_SECRET)).slice(0, OUTPUT_END);
  const tail = masked(whole.slice(-OUTPUT_END - LONGEST_SECRET)).slice(-OUTPUT_END);
  return [head, tail];
}

function masked(text: string): string {
  return redact(withoutInjected(text)).text;
}
