/** The content of messages in both of Kiro's generations. */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import { type Fields, nameOf, objectsIn, resultBlock } from "../fields.ts";

export const FORMAT = "kiro";

export function toCall(id: string, name: unknown, input: unknown): Block {
  return { type: "tool_use", id, name: nameOf(name ?? ""), input: JSON.stringify(input ?? {}) };
}

/** `parts` are texts and JSON values: a single text is the output itself. */
export function toResult(
  id: string,
  name: string | undefined,
  parts: readonly unknown[],
  status: unknown,
): ToolResultBlock {
  const texts = parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part)));
  return resultBlock(id, name, texts.join("\n"), nameOf(status ?? "").toLowerCase() === "error");
}

/** Of the parts of a result, each an object with one name, the values. */
export function valuesOf(content: unknown, toValue: (part: Fields) => unknown): readonly unknown[] {
  return objectsIn(content).map((part) => toValue(part) ?? part);
}
