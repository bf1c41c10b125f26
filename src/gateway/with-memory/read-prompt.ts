/** Converts an app's prompt to messages of a session. */

import type { MessageInput } from "../../engine/message-input.ts";
import type { BlockInput } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import type { ToolResultInput } from "../../transcript/normalize.ts";
import type { SdkMessage, SdkPart } from "./sdk-model.ts";

/** A message to store, and the key that recognises a stored copy. */
export interface ReadMessage {
  readonly message: MessageInput;
  readonly key: string;
}

/**
 * The new messages of a prompt: those behind its last assistant message, without those that an
 * earlier attempt stored (`waiting`: stored messages without an answer). In an empty session all
 * are new.
 */
export function newMessages(
  prompt: readonly SdkMessage[],
  waiting: readonly Entry[],
  isEmpty: boolean,
): ReadMessage[] {
  const said = prompt.filter(({ role }) => role !== "system");
  const last = said.findLastIndex(({ role }) => role === "assistant");
  const read = (isEmpty ? said : said.slice(last + 1)).flatMap(readMessage);
  const stored = waiting.map(keyOf);
  const isPrefix = stored.length > 0 && stored.every((key, i) => read[i]?.key === key);
  return isPrefix ? read.slice(stored.length) : read;
}

function readMessage({ role, content }: SdkMessage): ReadMessage[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "tool") return parts.flatMap(readResult);
  const blocks = parts.flatMap(readPart);
  if (blocks.length === 0) return [];
  const said = role === "assistant" ? "assistant" : "user";
  return [{ message: { role: said, content: blocks }, key: `${said} ${textIn(blocks)}` }];
}

/** Also for parts of an answer, which are nearly the same. */
export function readPart(part: SdkPart): BlockInput[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: String(part["text"] ?? "") }];
    case "reasoning":
      return [{ type: "thinking", text: String(part["text"] ?? ""), ...signatureOf(part) }];
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part;
      const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
      return [{ type: "tool_use", id: String(id), name: String(name), input: text }];
    }
    case "file":
      return [readFile(part)];
    default:
      // Sources, approvals and unknown parts stay with the app.
      return [];
  }
}

function readFile(part: SdkPart): BlockInput {
  const mediaType = String(part["mediaType"] ?? "");
  const given = isPlainObject(part["data"]) ? part["data"] : undefined;
  const data = given === undefined ? part["data"] : (given["data"] ?? given["url"]);
  if (!mediaType.startsWith("image")) return { type: "text", text: `[file: ${mediaType}]` };
  if (data instanceof URL) return { type: "image", mediaType, url: data.href };
  if (data instanceof Uint8Array) {
    return { type: "image", mediaType, data: Buffer.from(data).toString("base64") };
  }
  return { type: "image", mediaType, data: String(data) };
}

/** The places where providers put a thought's signature, in input and output. */
function signatureOf(part: SdkPart): { signature?: string } {
  const given = part["providerMetadata"] ?? part["providerOptions"];
  for (const house of isPlainObject(given) ? Object.values(given) : []) {
    if (!isPlainObject(house)) continue;
    const signature = house["signature"] ?? house["thoughtSignature"];
    if (typeof signature === "string") return { signature };
  }
  return {};
}

function readResult(part: SdkPart): ReadMessage[] {
  if (part.type !== "tool-result") return [];
  const id = String(part["toolCallId"]);
  const result: ToolResultInput = { id, name: String(part["toolName"]), ...outputOf(part) };
  return [{ message: { role: "tool", toolResults: [result] }, key: `tool ${id}` }];
}

function outputOf(part: SdkPart): { readonly output: string; readonly isError: boolean } {
  const output = isPlainObject(part["output"]) ? part["output"] : {};
  const { type, value, reason } = output;
  const isError = /^(error|execution-denied)/.test(String(type));
  if (type === "execution-denied") return { output: String(reason ?? "denied"), isError };
  if (typeof value === "string") return { output: value, isError };
  if (type !== "content" || !Array.isArray(value)) {
    return { output: JSON.stringify(value ?? null), isError };
  }
  const texts = value.map((inner) =>
    isPlainObject(inner) ? String(inner["text"] ?? "[file]") : "",
  );
  return { output: texts.join("\n"), isError };
}

function keyOf({ role, blocks }: Entry): string {
  const [first] = blocks;
  return first?.type === "tool_result" ? `tool ${first.toolUseId}` : `${role} ${textIn(blocks)}`;
}

function textIn(blocks: readonly BlockInput[]): string {
  return blocks.flatMap((block) => ("text" in block ? [String(block.text)] : [])).join("\n");
}
