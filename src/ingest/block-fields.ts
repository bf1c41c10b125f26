/** Blocks that several agents write alike, except for a name. Unknown fields stay on them. */

import type { Block, ToolResultBlock } from "../model/block.ts";
import type { Usage } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import { type Fields, otherFields, textField } from "./fields.ts";

/** `more` has the fields of the source that stay on the block. */
export function resultBlock(
  toolUseId: string,
  toolName: string | undefined,
  output: ToolResultBlock["output"],
  isError: boolean,
  more: JsonObject = {},
): ToolResultBlock {
  const named = toolName === undefined ? {} : { toolName };
  return { ...more, type: "tool_result", toolUseId, ...named, output, isError };
}

/** The usage of a call whose provider counts cache reads and writes as input. */
export function toPromptUsage(
  input: number,
  outputTokens: number,
  cacheReadTokens: number,
  cacheCreationTokens: number,
): Usage {
  const inputTokens = Math.max(0, input - cacheReadTokens - cacheCreationTokens);
  return { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens };
}

export function toTextBlock(fields: Fields): Block | undefined {
  const text = textField(fields, "text");
  if (text === undefined) return undefined;
  return { ...otherFields(fields, ["type", "text"]), type: "text", text };
}

/** `inputName` is the field of the arguments: text is kept to the byte, other values as JSON. */
export function toCallBlock(fields: Fields, inputName: string): Block | undefined {
  const id = textField(fields, "id");
  const name = textField(fields, "name");
  const input = fields[inputName];
  if (id === undefined || name === undefined || input === undefined) return undefined;
  return {
    ...otherFields(fields, ["type", "id", "name", inputName]),
    type: "tool_use",
    id,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input),
  };
}
