/** Maps parts of the AI SDK's `UIMessage` to blocks, for search, contexts and other agents. */

import type { BlockInput } from "../../model/block.ts";

/**
 * The type of a dynamic tool's part; other tools' parts have the type `tool-` and the tool's name.
 */
const DYNAMIC_TOOL = "dynamic-tool";

/** Texts, thoughts, calls and their results. */
export function toBlocks(parts: readonly object[]): BlockInput[] {
  return (parts as readonly Record<string, unknown>[]).flatMap((part): BlockInput[] => {
    const { type, text } = part;
    if (type === "text" && typeof text === "string" && text !== "") return [{ type, text }];
    if (type === "reasoning" && typeof text === "string" && text !== "") {
      return [{ type: "thinking", text }];
    }
    if (typeof type !== "string" || typeof part["toolCallId"] !== "string") return [];
    return toolBlocks(part, type === DYNAMIC_TOOL ? String(part["toolName"]) : type.slice(5));
  });
}

function toolBlocks(part: Record<string, unknown>, name: string): BlockInput[] {
  const { toolCallId: id, input, output, errorText } = part;
  const call = { type: "tool_use", id, name, input: JSON.stringify(input ?? {}) };
  if (output === undefined && errorText === undefined) return [call];
  const result = {
    type: "tool_result",
    toolUseId: id,
    toolName: name,
    output: typeof output === "string" ? output : JSON.stringify(output ?? errorText),
    isError: errorText !== undefined,
  };
  return [call, result];
}
