/**
 * Normalises a caller's input to canonical blocks.
 *
 * Callers use several dialects: plain text, blocks in snake_case or camelCase, separate `toolCalls`
 * and `toolResults`. The stored form is one. A block of an unknown type is kept unchanged.
 */

import type { Block, BlockInput } from "../model/block.ts";
import { BackscrollError } from "../model/errors.ts";
import { describe, isPlainObject, stringifyJson } from "../model/json.ts";
import { MAX_BLOCKS } from "../model/limits.ts";
import { givenInputText } from "../model/tool-input.ts";

export type ContentInput = string | readonly BlockInput[];

export interface ToolCallInput {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  /** Accepted in place of `input`. */
  readonly arguments?: unknown;
}

export interface ToolResultInput {
  readonly id: string;
  readonly name?: string;
  readonly output: string | readonly BlockInput[];
  readonly isError?: boolean;
}

/** Gives the blocks of `content`. Throws `invalid_input` or `too_large` naming the field. */
export function normalizeContent(content: unknown, field = "content"): Block[] {
  if (typeof content === "string") {
    if (content === "") throw invalid(field, `${field} is empty; a message needs text or blocks`);
    return [{ type: "text", text: content }];
  }
  if (!Array.isArray(content)) {
    throw invalid(
      field,
      `${field} must be a string or an array of blocks, not ${describe(content)}`,
    );
  }
  if (content.length === 0) {
    throw invalid(field, `${field} is empty; a message needs text or blocks`);
  }
  if (content.length > MAX_BLOCKS) {
    throw new BackscrollError(
      "too_large",
      `${field} has ${content.length} blocks; at most ${MAX_BLOCKS} are allowed in one message; split it`,
      { details: { field, limit: MAX_BLOCKS, actual: content.length } },
    );
  }
  return content.map((block, i) => normalizeBlock(block, `${field}[${i}]`));
}

export function normalizeToolCalls(calls: readonly ToolCallInput[], field: string): Block[] {
  return calls.map((call, i) =>
    normalizeBlock(
      { type: "tool_use", id: call.id, name: call.name, input: call.input ?? call.arguments ?? {} },
      `${field}[${i}]`,
    ),
  );
}

export function normalizeToolResult(result: ToolResultInput, field: string): Block {
  return normalizeBlock(
    {
      type: "tool_result",
      toolUseId: result.id,
      ...(result.name === undefined ? {} : { toolName: result.name }),
      output: result.output,
      isError: result.isError ?? false,
    },
    field,
  );
}

export function normalizeBlock(block: unknown, field: string): Block {
  if (!isPlainObject(block))
    throw invalid(field, `${field} must be a block, not ${describe(block)}`);
  const { type } = block;
  if (typeof type !== "string" || type === "") {
    throw invalid(`${field}.type`, `${field}.type must be a string such as "text" or "tool_use"`);
  }
  // Own names only: "constructor" is on every object, and unknown here.
  const normalize = Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  if (normalize !== undefined) return normalize(block, field);
  const converter = Object.hasOwn(CONVERTERS, type) ? CONVERTERS[type] : undefined;
  if (converter !== undefined) {
    throw invalid(
      field,
      `${field} is a "${type}" of another library, which no search or context would read; convert its message by ${converter} of "backscroll/convert"`,
    );
  }
  return { type: "opaque", json: stringifyJson(block, field) };
}

/** Parts of SDKs that have a form of ours: kept as they are, they would be lost to every reader. */
const CONVERTERS: Readonly<Record<string, string>> = {
  "tool-call": "fromModelMessages",
  "tool-result": "fromModelMessages",
  function_call: "fromOpenAIResponses",
  function_call_output: "fromOpenAIResponses",
  input_text: "fromOpenAIResponses",
  output_text: "fromOpenAIResponses",
  input_image: "fromOpenAIResponses",
  image_url: "fromOpenAIChat",
};

type Fields = Record<string, unknown>;

/** Each keeps unknown fields, which a provider may require. */
const BLOCKS: Record<string, (block: Fields, field: string) => Block> = {
  text: (block, field) => ({
    ...rest(block, field, ["type", "text"]),
    type: "text",
    text: string(block["text"], `${field}.text`),
  }),

  thinking: (block, field) => ({
    ...rest(block, field, ["type", "text", "thinking"]),
    type: "thinking",
    text: string(block["text"] ?? block["thinking"], `${field}.text`),
  }),

  tool_use: (block, field) => {
    const given = block["inputText"] ?? block["input_text"];
    return {
      ...rest(block, field, ["type", "id", "name", "input", "inputText", "input_text"]),
      type: "tool_use",
      id: string(block["id"], `${field}.id`),
      name: string(block["name"], `${field}.name`),
      input: givenInputText(block["input"] ?? {}, given, (value) =>
        stringifyJson(value, `${field}.input`),
      ),
    };
  },

  tool_result: (block, field) => {
    const output = block["output"] ?? block["content"] ?? "";
    const name = block["toolName"] ?? block["tool_name"];
    return {
      ...rest(block, field, [
        "type",
        "toolUseId",
        "tool_use_id",
        "toolName",
        "tool_name",
        "output",
        "content",
        "isError",
        "is_error",
      ]),
      type: "tool_result",
      toolUseId: string(block["toolUseId"] ?? block["tool_use_id"], `${field}.toolUseId`),
      ...(name === undefined ? {} : { toolName: string(name, `${field}.toolName`) }),
      output: toolOutput(output, `${field}.output`),
      isError: Boolean(block["isError"] ?? block["is_error"] ?? false),
    };
  },

  image: (block, field) => {
    for (const name of ["mediaType", "media_type", "data", "url"]) {
      if (block[name] !== undefined) string(block[name], `${field}.${name}`);
    }
    const { media_type: mediaType } = block;
    return {
      ...(mediaType === undefined ? {} : { mediaType: mediaType as string }),
      ...rest(block, field, ["type", "media_type"]),
      type: "image",
    };
  },

  opaque: (block, field) => ({
    ...rest(block, field, ["type", "json"]),
    type: "opaque",
    json: string(block["json"], `${field}.json`),
  }),
};

function toolOutput(output: unknown, field: string): string | Block[] {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) {
    return output.map((inner, i) => normalizeBlock(inner, `${field}[${i}]`));
  }
  return stringifyJson(output, field);
}

/** The other fields of a block, checked to be JSON. */
function rest(block: Fields, field: string, known: readonly string[]): Fields {
  const others = Object.entries(block).filter(
    ([key, value]) => !known.includes(key) && value !== undefined,
  );
  if (others.length === 0) return {};
  for (const [key, value] of others) stringifyJson(value, `${field}.${key}`);
  return Object.fromEntries(others);
}

function string(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw invalid(field, `${field} must be a string, not ${describe(value)}`);
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
