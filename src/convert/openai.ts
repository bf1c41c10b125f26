/**
 * Messages of OpenAI's Chat Completions and of Mistral's chat, items of OpenAI's Responses, and what
 * their calls returned. Mistral's client writes names in camel case.
 */

import type { Block } from "../model/block.ts";
import {
  asText,
  type ConvertedMessage,
  count,
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
  withCall,
} from "./converted.ts";

const OPENAI = "openai";
const CHAT_ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;
type ChatRole = (typeof CHAT_ROLES)[number];

export function fromOpenAIChat(given: object | readonly object[]): ConvertedMessage[] {
  return fromChat(given, OPENAI);
}

export function fromMistral(given: object | readonly object[]): ConvertedMessage[] {
  return fromChat(given, "mistral");
}

function fromChat(given: object | readonly object[], provider: string): ConvertedMessage[] {
  if (!Array.isArray(given) && "choices" in given) {
    const { choices, usage, model } = given as Fields;
    const [first] = listOf(choices);
    const { message } = fieldsOf(first, "completion.choices[0]");
    const call = { ...modelOf(model), ...usageOfChat(usage) };
    const converted = toMessage(message, "completion.choices[0].message", provider);
    return withCall(filled([converted]), call);
  }
  return filled(listOf(given).map((message, i) => toMessage(message, `messages[${i}]`, provider)));
}

function usageOfChat(usage: unknown) {
  if (!isObject(usage)) return {};
  const details = usage["prompt_tokens_details"];
  const read = count(isObject(details) ? details["cached_tokens"] : 0);
  return usageOf({
    inputTokens: count(usage["prompt_tokens"] ?? usage["promptTokens"]) - read,
    outputTokens: usage["completion_tokens"] ?? usage["completionTokens"],
    cacheReadTokens: read,
    cacheCreationTokens: 0,
  });
}

function toMessage(given: unknown, field: string, provider: string): ConvertedMessage {
  const message = fieldsOf(given, field);
  const role = textField(message, "role", field) as ChatRole;
  if (!CHAT_ROLES.includes(role)) {
    throw notOne(`${field}.role`, `must be one of ${CHAT_ROLES.join(", ")}, not "${role}"`);
  }
  const content = toContent(message["content"], `${field}.content`, provider);
  if (role === "tool" || role === "function") {
    const { name } = message;
    const id = message["tool_call_id"] ?? message["toolCallId"] ?? name;
    if (typeof id !== "string") throw notOne(`${field}.tool_call_id`, "is missing");
    return { role: "tool", content: [toResult(id, name, content)] };
  }
  const thought = message["reasoning_content"] ?? message["reasoning"];
  const thinking: Block[] =
    typeof thought === "string" && thought !== "" ? [{ type: "thinking", text: thought }] : [];
  const calls = listOf(message["tool_calls"] ?? message["toolCalls"] ?? []).map((call, i) =>
    toCall(call, `${field}.tool_calls[${i}]`),
  );
  const { function_call: called, audio } = message;
  // Before tools a call had no id: its result is named by the function.
  if (isObject(called)) {
    calls.push(toCall({ id: called["name"], function: called }, `${field}.function_call`));
  }
  const spoken = isObject(audio) ? [own(provider, { audio }, `${field}.audio`)] : [];
  const refusal = texts(message["refusal"]);
  return { role, content: [...thinking, ...content, ...spoken, ...refusal, ...calls] };
}

/** Only text: a string, as most tools give it. */
function toResult(toolUseId: string, name: unknown, content: readonly Block[]): Block {
  const [only] = content;
  return {
    type: "tool_result",
    toolUseId,
    ...(typeof name === "string" ? { toolName: name } : {}),
    output: content.length === 1 && only?.type === "text" ? only.text : content,
    isError: false,
  };
}

function toCall(given: unknown, field: string): Block {
  const call = fieldsOf(given, field);
  // A custom tool takes text.
  const { function: called = call["custom"] } = call;
  const fields = fieldsOf(called, `${field}.function`);
  return {
    type: "tool_use",
    id: textField(call, "id", field),
    name: textField(fields, "name", `${field}.function`),
    input: asText(fields["arguments"] ?? fields["input"] ?? {}, `${field}.function.arguments`),
  };
}

function toContent(content: unknown, field: string, provider: string): Block[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return texts(content);
  return listOf(content).flatMap((given, i) => {
    const part = fieldsOf(given, `${field}[${i}]`);
    return toBlocks(part, `${field}[${i}]`, provider);
  });
}

/** Parts of both APIs: the Responses' have the direction in their type. */
function toBlocks(part: Fields, field: string, provider: string): Block[] {
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text":
      return texts(part["text"]);
    case "refusal":
      return texts(part["refusal"]);
    case "thinking":
      return listOf(part["thinking"]).flatMap((each): Block[] => {
        const text = isObject(each) ? each["text"] : each;
        return typeof text === "string" ? [{ type: "thinking", text }] : [];
      });
    case "image_url":
    case "input_image": {
      const given = part["image_url"] ?? part["imageUrl"];
      const image = imageOf(isObject(given) ? given["url"] : given, undefined);
      return [image ?? own(provider, part, field)];
    }
    default:
      return [own(provider, part, field)];
  }
}

/** An item is a message, or the part of one: what the model wrote in a row is one message. */
export function fromOpenAIResponses(
  given: string | object | readonly object[],
): ConvertedMessage[] {
  if (typeof given === "string") return [{ role: "user", content: texts(given) }];
  if (!Array.isArray(given) && "output" in given && Array.isArray(given.output)) {
    const { output, usage, model } = given as Fields;
    return withCall(fromItems(listOf(output), "response.output"), {
      ...modelOf(model),
      ...usageOfResponse(usage),
    });
  }
  return fromItems(listOf(given), "input");
}

function usageOfResponse(usage: unknown) {
  if (!isObject(usage)) return {};
  const details = usage["input_tokens_details"];
  const read = count(isObject(details) ? details["cached_tokens"] : 0);
  return usageOf({
    inputTokens: count(usage["input_tokens"]) - read,
    outputTokens: usage["output_tokens"],
    cacheReadTokens: read,
    cacheCreationTokens: 0,
  });
}

function fromItems(items: readonly unknown[], field: string): ConvertedMessage[] {
  const messages: { role: ConvertedMessage["role"]; content: Block[] }[] = [];
  items.forEach((given, i) => {
    const { role, content } = toItem(fieldsOf(given, `${field}[${i}]`), `${field}[${i}]`);
    const last = messages.at(-1);
    if (role === "assistant" && last?.role === role) last.content.push(...content);
    else messages.push({ role, content: [...content] });
  });
  return filled(messages);
}

function toItem(item: Fields, field: string): ConvertedMessage {
  switch (item["type"] ?? "message") {
    case "message":
      return toMessage(item, field, OPENAI);
    case "function_call":
    case "custom_tool_call":
      return {
        role: "assistant",
        content: [
          {
            type: "tool_use",
            id: textField(item, "call_id", field),
            name: textField(item, "name", field),
            input: asText(item["arguments"] ?? item["input"] ?? {}, `${field}.arguments`),
          },
        ],
      };
    case "function_call_output":
    case "custom_tool_call_output": {
      const output = toContent(item["output"], `${field}.output`, OPENAI);
      return {
        role: "tool",
        content: [toResult(textField(item, "call_id", field), undefined, output)],
      };
    }
    default:
      return { role: "assistant", content: [own(OPENAI, item, field)] };
  }
}
