/** Content in the form of Gemini's API, which several agents write: text, or a list of parts. */

import type { Block } from "../model/block.ts";
import type { Usage } from "../model/entry.ts";
import { isPlainObject } from "../model/json.ts";
import {
  countField,
  type Fields,
  otherFields,
  resultBlock,
  textField,
  thinkingBlock,
  toImageBlock,
  toPromptUsage,
} from "./fields.ts";

/** Undefined if it is not content. `format` names the agent in opaque blocks. */
export function toPartBlocks(content: unknown, format: string): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (isPlainObject(content)) return [toPartBlock(content, format)];
  if (!Array.isArray(content)) return undefined;
  return content.map((part) =>
    typeof part === "string" ? { type: "text", text: part } : toPartBlock(part, format),
  );
}

function toPartBlock(part: unknown, format: string): Block {
  const fields: Fields = isPlainObject(part) ? part : {};
  const text = textField(fields, "text");
  const signature = textField(fields, "thoughtSignature");
  if (text !== undefined && fields["thought"] === true) {
    const rest = otherFields(fields, ["text", "thought", "thoughtSignature"]);
    return thinkingBlock(text, signature, rest);
  }
  if (text !== undefined) return { ...otherFields(fields, ["text"]), type: "text", text };
  const { functionCall, functionResponse, inlineData } = fields;
  if (isPlainObject(functionCall)) {
    const rest = otherFields(fields, ["functionCall"]);
    const name = textField(functionCall, "name") ?? "";
    const id = textField(functionCall, "id") ?? name;
    return {
      ...rest,
      type: "tool_use",
      id,
      name,
      input: JSON.stringify(functionCall["args"] ?? {}),
    };
  }
  if (isPlainObject(functionResponse)) return toResultBlock(functionResponse);
  const image = isPlainObject(inlineData) ? toImageBlock(inlineData) : undefined;
  return image ?? { type: "opaque", provider: format, json: JSON.stringify(part) };
}

/** A function's response: its text, if it has one. */
export function toResultBlock(response: Fields, callId?: string): Block {
  const name = textField(response, "name");
  const toolUseId = callId ?? textField(response, "id") ?? name ?? "";
  const { output, isError } = toOutput(response["response"]);
  return resultBlock(toolUseId, name, output, isError);
}

function toOutput(response: unknown): { readonly output: string; readonly isError: boolean } {
  if (typeof response === "string") return { output: response, isError: false };
  const fields: Fields = isPlainObject(response) ? response : {};
  const error = textField(fields, "error");
  const output = textField(fields, "output") ?? textField(fields, "content") ?? error;
  return {
    output: output ?? (response === undefined ? "" : JSON.stringify(response)),
    isError: error !== undefined && fields["output"] === undefined,
  };
}

/** Their input includes cached tokens, and their output excludes thoughts. */
export function toGeminiUsage(counts: {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cached: number | undefined;
  readonly thoughts: number | undefined;
}): Usage | null {
  const { input = 0, output = 0, cached = 0, thoughts = 0 } = counts;
  if (input + output + cached + thoughts === 0) return null;
  return toPromptUsage(input, output + thoughts, cached, 0);
}

/** `tokens` of a message, as Gemini CLI writes them. */
export function toTokensUsage(tokens: unknown): Usage | null {
  if (!isPlainObject(tokens)) return null;
  return toGeminiUsage({
    input: countField(tokens, "input"),
    output: countField(tokens, "output"),
    cached: countField(tokens, "cached"),
    thoughts: countField(tokens, "thoughts"),
  });
}
