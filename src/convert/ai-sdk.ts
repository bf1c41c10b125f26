/**
 * The AI SDK's model messages, and what its `generateText` and `streamText` returned, versions 5 to 7.
 *
 * The steps of a result have the messages; before version 7 each step repeated those before it.
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

const PROVIDER = "ai-sdk";

/** What the AI SDK's calls return; a stream's parts are promises. */
export interface ModelResult {
  readonly steps: PromiseLike<readonly object[]> | readonly object[];
}

/** Throws for the answer of another SDK, with the name of its converter. */
export function isModelResult(value: unknown): value is ModelResult {
  if (!isObject(value)) return false;
  if ("steps" in value) return true;
  for (const [field, converter] of OTHERS) {
    if (!(field in value)) continue;
    throw notOne(
      "message",
      `has the field "${field}" of a provider's answer; convert it by ${converter} of "backscroll/convert"`,
    );
  }
  return false;
}

/** Fields by which answers of other SDKs are told, and what converts them. */
const OTHERS: readonly (readonly [field: string, converter: string])[] = [
  ["choices", "fromOpenAIChat or fromMistral"],
  ["output", "fromOpenAIResponses"],
  ["stop_reason", "fromAnthropic"],
  ["candidates", "fromGoogle"],
];

/** Converts messages, one of them, or the result of a call that is complete. */
export function fromModelMessages(given: object | readonly object[]): ConvertedMessage[] {
  if (!Array.isArray(given) && isModelResult(given)) {
    if (Array.isArray(given.steps)) return fromSteps(given.steps, given);
    throw notOne("result.steps", "must be a list; await a stream's steps, or append the stream");
  }
  return filled(listOf(given).flatMap((message, i) => toMessages(message, `messages[${i}]`)));
}

/** The same for a result that may still be streaming: waits for its end. */
export async function fromModelResult(result: ModelResult): Promise<ConvertedMessage[]> {
  return fromSteps(await result.steps, result);
}

function fromSteps(steps: readonly object[], result: object): ConvertedMessage[] {
  const { initialResponseMessages: before } = result as Fields;
  const converted = Array.isArray(before) ? fromModelMessages(before) : [];
  let known = 0;
  for (const [i, step] of steps.entries()) {
    const { response, usage } = step as Fields;
    const { messages, modelId } = fieldsOf(response, `result.steps[${i}].response`);
    const all = listOf(messages);
    const repeats = i > 0 && all.length > known && isRepeated(steps[i - 1], all, known);
    const own = fromModelMessages((repeats ? all.slice(known) : all) as readonly object[]);
    known = all.length;
    converted.push(...withCall(own, { ...modelOf(modelId), ...usageOfStep(usage) }));
  }
  return converted;
}

/** Whether a step begins with the messages of the one before. */
function isRepeated(before: object | undefined, all: readonly unknown[], known: number): boolean {
  const { messages } = fieldsOf((before as Fields | undefined)?.["response"], "result.steps");
  return JSON.stringify(listOf(messages)) === JSON.stringify(all.slice(0, known));
}

function usageOfStep(usage: unknown) {
  if (!isObject(usage)) return {};
  const details = isObject(usage["inputTokenDetails"]) ? usage["inputTokenDetails"] : {};
  const read = count(details["cacheReadTokens"] ?? usage["cachedInputTokens"]);
  const written = count(details["cacheWriteTokens"]);
  return usageOf({
    inputTokens: details["noCacheTokens"] ?? count(usage["inputTokens"]) - read - written,
    outputTokens: usage["outputTokens"],
    cacheReadTokens: read,
    cacheCreationTokens: written,
  });
}

function toMessages(given: unknown, field: string): ConvertedMessage[] {
  const message = fieldsOf(given, field);
  const role = textField(message, "role", field);
  const { content } = message;
  if (role === "system") return [{ role, content: texts(content) }];
  if (role === "user" || role === "assistant") {
    if (typeof content === "string") return [{ role, content: texts(content) }];
    return [{ role, content: parts(content, field).flatMap(([part, at]) => toBlocks(part, at)) }];
  }
  if (role !== "tool") {
    throw notOne(`${field}.role`, `must be system, user, assistant or tool, not "${role}"`);
  }
  // One message each, as everywhere in a session.
  return parts(content, field).map(([part, at]) => ({ role, content: toBlocks(part, at) }));
}

function parts(content: unknown, field: string): [Fields, string][] {
  if (!Array.isArray(content)) throw notOne(`${field}.content`, "must be text or a list of parts");
  return content.map((part, i) => {
    const at = `${field}.content[${i}]`;
    return [fieldsOf(part, at), at];
  });
}

function toBlocks(part: Fields, field: string): Block[] {
  switch (part["type"]) {
    case "text":
      return texts(part["text"]).map((text) => ({ ...text, ...thoughtSignature(part) }));
    case "reasoning":
      return [{ type: "thinking", text: textField(part, "text", field), ...signature(part) }];
    case "tool-call":
      return [
        {
          type: "tool_use",
          id: textField(part, "toolCallId", field),
          name: textField(part, "toolName", field),
          input: asText(part["input"] ?? {}, `${field}.input`),
          ...thoughtSignature(part),
        },
      ];
    case "tool-result":
      return [toResult(part, field)];
    case "image":
      return [imageOf(part["image"], part["mediaType"]) ?? own(PROVIDER, part, field)];
    case "file":
      return [toFile(part, field)];
    default:
      return [own(PROVIDER, part, field)];
  }
}

/** A file is an image of ours, or stays the SDK's own. */
function toFile(part: Fields, field: string): Block {
  const { data, mediaType } = part;
  const isImage = typeof mediaType === "string" && /^image(?:\/|$)/.test(mediaType);
  const given = isObject(data) && !(data instanceof URL) ? (data["data"] ?? data["url"]) : data;
  const image = isImage ? imageOf(given ?? data, mediaType) : undefined;
  return image ?? own(PROVIDER, part, field);
}

function toResult(part: Fields, field: string): Block {
  const output = fieldsOf(part["output"], `${field}.output`);
  const { type, value } = output;
  const result = {
    type: "tool_result" as const,
    toolUseId: textField(part, "toolCallId", field),
    toolName: textField(part, "toolName", field),
    isError: type === "error-text" || type === "error-json" || type === "execution-denied",
  };
  if (type === "content") return { ...result, output: listOf(value).flatMap(toOutput) };
  const said = type === "execution-denied" ? (output["reason"] ?? "execution denied") : value;
  return { ...result, output: asText(said, `${field}.output.value`) };
}

function toOutput(part: unknown): Block[] {
  if (!isObject(part)) return texts(asText(part, "output"));
  if (part["type"] === "text") return texts(part["text"]);
  const { data, mediaType, url } = part;
  const given = isObject(data) ? (data["data"] ?? data["url"]) : (data ?? url);
  const isImage = /image/.test(`${String(part["type"])} ${String(mediaType)}`);
  const image = isImage ? imageOf(given, mediaType) : undefined;
  // Without a provider: a tool's data, which any of them is shown.
  return [image ?? { type: "opaque", json: asText(part, "output") }];
}

function optionsOf(part: Fields, house: string): Fields {
  const options = part["providerOptions"] ?? part["providerMetadata"];
  const found = isObject(options) ? options[house] : undefined;
  return isObject(found) ? found : {};
}

function signature(part: Fields): { signature?: string } {
  const given =
    optionsOf(part, "anthropic")["signature"] ?? optionsOf(part, "google")["thoughtSignature"];
  return typeof given === "string" ? { signature: given } : {};
}

function thoughtSignature(part: Fields): { thoughtSignature?: string } {
  const { thoughtSignature: given } = optionsOf(part, "google");
  return typeof given === "string" ? { thoughtSignature: given } : {};
}
