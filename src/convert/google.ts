/** Google's contents: a request's, or what `generateContent` returned. */

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

const PROVIDER = "google";

export function fromGoogle(given: object | readonly object[]): ConvertedMessage[] {
  const calls = new Calls();
  if (!Array.isArray(given) && "candidates" in given) {
    const { candidates, usageMetadata, modelVersion } = given as Fields;
    const [first] = listOf(candidates ?? []);
    // What was blocked, or ended before its first word, has no content.
    const { content = {} } = first === undefined ? {} : fieldsOf(first, "response.candidates[0]");
    const messages = filled(toMessages(content, "response.candidates[0].content", calls));
    return withCall(messages, { ...modelOf(modelVersion), ...usageOfCall(usageMetadata) });
  }
  return filled(listOf(given).flatMap((each, i) => toMessages(each, `contents[${i}]`, calls)));
}

/** The prompt's count has what was cached, the candidates' not the thoughts. */
function usageOfCall(usage: unknown) {
  if (!isObject(usage)) return {};
  const read = count(usage["cachedContentTokenCount"]);
  return usageOf({
    inputTokens: count(usage["promptTokenCount"]) - read,
    outputTokens: count(usage["candidatesTokenCount"]) + count(usage["thoughtsTokenCount"]),
    cacheReadTokens: read,
    cacheCreationTokens: 0,
  });
}

/** Gemini's calls may have no ids: then a response is that of the next call of its name. */
class Calls {
  readonly #open = new Map<string, string[]>();

  idOf(call: Fields, name: string): string {
    const { id } = call;
    const given = typeof id === "string" && id !== "" ? id : crypto.randomUUID();
    this.#open.set(name, [...(this.#open.get(name) ?? []), given]);
    return given;
  }

  answered(response: Fields, name: string, field: string): string {
    const { id } = response;
    if (typeof id === "string" && id !== "") return id;
    const [next, ...others] = this.#open.get(name) ?? [];
    if (next === undefined) {
      throw notOne(
        `${field}.functionResponse.id`,
        `is missing, and no call of "${name}" stands before it; convert the call in the same list, or give both an id`,
      );
    }
    this.#open.set(name, others);
    return next;
  }
}

function toMessages(given: unknown, field: string, calls: Calls): ConvertedMessage[] {
  const { role = "user", parts } = fieldsOf(given, field);
  if (role !== "user" && role !== "model" && role !== "function" && role !== "system") {
    throw notOne(`${field}.role`, `must be user, model, function or system, not "${String(role)}"`);
  }
  const blocks = listOf(parts ?? []).flatMap((part, i) => {
    const at = `${field}.parts[${i}]`;
    return toBlocks(fieldsOf(part, at), at, role === "model", calls);
  });
  const results = blocks.filter(({ type }) => type === "tool_result");
  const said = blocks.filter(({ type }) => type !== "tool_result");
  return [
    ...results.map((result) => ({ role: "tool" as const, content: [result] })),
    { role: role === "model" ? "assistant" : role === "function" ? "tool" : role, content: said },
  ];
}

function toBlocks(part: Fields, field: string, byModel: boolean, calls: Calls): Block[] {
  const { text, thought, thoughtSignature, functionCall, functionResponse } = part;
  const signed = typeof thoughtSignature === "string" ? thoughtSignature : undefined;
  const signature = signed === undefined ? {} : { thoughtSignature: signed };
  if (typeof text === "string") {
    if (thought !== true) return texts(text).map((block) => ({ ...block, ...signature }));
    return [{ type: "thinking", text, ...(signed === undefined ? {} : { signature: signed }) }];
  }
  if (isObject(functionCall)) {
    const name = textField(functionCall, "name", `${field}.functionCall`);
    const input = asText(functionCall["args"] ?? {}, `${field}.functionCall.args`);
    return [{ type: "tool_use", id: calls.idOf(functionCall, name), name, input, ...signature }];
  }
  if (isObject(functionResponse)) return [toResult(functionResponse, field, calls)];
  const { inlineData, fileData } = part;
  const image =
    isObject(inlineData) && isImage(inlineData)
      ? imageOf(inlineData["data"], inlineData["mimeType"])
      : isObject(fileData) && (isImage(fileData) || byModel)
        ? imageOf(fileData["fileUri"], fileData["mimeType"])
        : undefined;
  return [image ?? own(PROVIDER, part, field)];
}

function isImage({ mimeType }: Fields): boolean {
  return typeof mimeType === "string" && mimeType.startsWith("image/");
}

/** Google's two keys for a function's result and its error; any other object is the result. */
function toResult(given: Fields, field: string, calls: Calls): Block {
  const toolName = textField(given, "name", `${field}.functionResponse`);
  const response = isObject(given["response"]) ? given["response"] : {};
  const [key, ...others] = Object.keys(response);
  const isError = key === "error" && others.length === 0;
  const value = others.length === 0 && (isError || key === "output") ? response[key] : response;
  return {
    type: "tool_result",
    toolUseId: calls.answered(given, toolName, field),
    toolName,
    output: asText(value, `${field}.functionResponse.response`),
    isError,
  };
}
