/** Anthropic's messages: a request's, or what `messages.create` returned. */

import type { Block } from "../model/block.ts";
import {
  asText,
  type ConvertedMessage,
  type Fields,
  fieldsOf,
  filled,
  imageOf,
  isObject,
  listOf,
  modelOf,
  notOne,
  own,
  textField,
  texts,
  usageOf,
} from "./converted.ts";

const PROVIDER = "anthropic";

/** Results that a user's message begins with become messages of the tools. */
export function fromAnthropic(given: object | readonly object[]): ConvertedMessage[] {
  return filled(listOf(given).flatMap((message, i) => toMessages(message, `messages[${i}]`)));
}

function toMessages(given: unknown, field: string): ConvertedMessage[] {
  const message = fieldsOf(given, field);
  const role = textField(message, "role", field);
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw notOne(`${field}.role`, `must be user, assistant or system, not "${role}"`);
  }
  const { content, model, usage } = message;
  const blocks =
    typeof content === "string"
      ? texts(content)
      : listOf(content).map((part, i) => toBlock(part, `${field}.content[${i}]`));
  const results = blocks.filter(({ type }) => type === "tool_result");
  const said = blocks.filter(({ type }) => type !== "tool_result");
  return [
    ...results.map((result) => ({ role: "tool" as const, content: [result] })),
    {
      role,
      content: said,
      ...(role === "assistant" ? { ...modelOf(model), ...usageOfCall(usage) } : {}),
    },
  ];
}

function usageOfCall(usage: unknown) {
  if (!isObject(usage)) return {};
  return usageOf({
    inputTokens: usage["input_tokens"],
    outputTokens: usage["output_tokens"],
    cacheCreationTokens: usage["cache_creation_input_tokens"],
    cacheReadTokens: usage["cache_read_input_tokens"],
  });
}

function toBlock(given: unknown, field: string): Block {
  const part = fieldsOf(given, field);
  switch (part["type"]) {
    case "text":
      return { type: "text", text: textField(part, "text", field) };
    case "thinking": {
      const { signature } = part;
      const text = textField(part, "thinking", field);
      return { type: "thinking", text, ...(typeof signature === "string" ? { signature } : {}) };
    }
    case "tool_use":
      return {
        type: "tool_use",
        id: textField(part, "id", field),
        name: textField(part, "name", field),
        input: asText(part["input"] ?? {}, `${field}.input`),
      };
    case "tool_result":
      return {
        type: "tool_result",
        toolUseId: textField(part, "tool_use_id", field),
        output: toOutput(part["content"], `${field}.content`),
        isError: part["is_error"] === true,
      };
    case "image":
      return toImage(part) ?? own(PROVIDER, part, field);
    default:
      return own(PROVIDER, part, field);
  }
}

function toOutput(content: unknown, field: string): string | Block[] {
  if (!Array.isArray(content)) return asText(content ?? "", field);
  return content.map((part, i) => toBlock(part, `${field}[${i}]`));
}

function toImage({ source }: Fields): Block | undefined {
  if (!isObject(source)) return undefined;
  return imageOf(source["data"] ?? source["url"], source["media_type"]);
}
