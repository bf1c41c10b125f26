/**
 * Maps items of a conversation to messages, for search and for people; the item itself is stored
 * beside its message.
 */

import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Block } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, type JsonValue } from "../../model/json.ts";
import { fromItemJson, toItemJson } from "./item-json.ts";
import type { AgentItem } from "./sdk-types.ts";

/**
 * Marks the sessions (`origin.source`), entries (`adapter`) and custom entries (`type`) of this
 * adapter.
 */
export const SOURCE = "openai-agents";

/** The metadata field of the first item after a compaction. */
export const BOUNDARY = "historyStart";

/** The authors of messages. */
export interface Authors {
  readonly user: string;
  readonly agent: string;
}

type Fields = Readonly<Record<string, unknown>>;

export function toEntryInput(
  item: AgentItem,
  authors: Authors,
  isBoundary = false,
): MessageEntryInput {
  const { role, blocks } = read(item as Fields);
  const actor = role === "user" ? authors.user : role === "assistant" ? authors.agent : undefined;
  return {
    role,
    content: blocks,
    adapter: SOURCE,
    raw: toItemJson(item),
    ...(actor === undefined ? {} : { actor }),
    ...(isBoundary ? { metadata: { [BOUNDARY]: true } } : {}),
  };
}

/** The item that an entry was made of; undefined if another program wrote the entry, or it is erased. */
export function toItem(entry: Entry): AgentItem | undefined {
  if (entry.adapter !== SOURCE || entry.raw === null) return undefined;
  return fromItemJson(entry.raw) as AgentItem;
}

export function isBoundary({ metadata }: Entry): boolean {
  return metadata[BOUNDARY] === true;
}

interface Message {
  readonly role: NonNullable<MessageEntryInput["role"]>;
  readonly blocks: readonly Block[];
}

function read(item: Fields): Message {
  const { type, role, callId } = item;
  if (role === "user" || role === "assistant" || role === "system" || role === "developer") {
    return { role, blocks: contentBlocks(item["content"]) };
  }
  if (type === "reasoning") return { role: "assistant", blocks: thoughts(item) };
  if (typeof callId === "string" && callId !== "" && typeof type === "string") {
    if (/_(?:result|output)$/.test(type)) return { role: "tool", blocks: [toResult(item, callId)] };
    if (type.endsWith("_call")) return { role: "assistant", blocks: [toCall(item, type, callId)] };
  }
  return { role: "assistant", blocks: [opaque(item)] };
}

function contentBlocks(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((part: unknown) => (isPlainObject(part) ? toBlock(part) : opaque(part)));
}

function toBlock(part: Fields): Block {
  const { text, refusal, image } = part;
  if (typeof text === "string") return { type: "text", text };
  if (typeof refusal === "string") return { type: "text", text: refusal };
  if (typeof image === "string" && image !== "") return toImage(image);
  return opaque(part);
}

/** A data URL or an address. */
function toImage(image: string): Block {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.+)$/s.exec(image) ?? [];
  return mediaType === undefined || data === undefined
    ? { type: "image", url: image }
    : { type: "image", mediaType, data };
}

function thoughts(item: Fields): Block[] {
  const parts = [item["content"], item["rawContent"]].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const texts = parts.flatMap((part) =>
    isPlainObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  return texts.map((text) => ({ type: "thinking", text }));
}

/** A model's call of a function, a shell, a computer or a patch. */
function toCall(item: Fields, type: string, id: string): Block {
  const { arguments: given, name = type, ...rest } = item;
  const input = typeof given === "string" ? given : JSON.stringify(toItemJson(rest));
  return { type: "tool_use", id, name: typeof name === "string" ? name : type, input };
}

function toResult(item: Fields, toolUseId: string): Block {
  const { output, name, status } = item;
  const parts = Array.isArray(output) ? (output as unknown[]) : [output];
  const blocks = parts.map((part) =>
    typeof part === "string"
      ? ({ type: "text", text: part } as const)
      : isPlainObject(part)
        ? toBlock(part)
        : opaque(part),
  );
  const [only] = blocks;
  return {
    type: "tool_result",
    toolUseId,
    ...(typeof name === "string" && name !== "" ? { toolName: name } : {}),
    output: blocks.length === 1 && only?.type === "text" ? only.text : blocks,
    isError: status === "failed",
  };
}

function opaque(value: unknown): Block {
  const json = JSON.stringify(toItemJson(value) as JsonValue) ?? "null";
  return { type: "opaque", provider: "openai", json };
}
