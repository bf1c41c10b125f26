/** Items of the OpenAI Agents SDK: its types, their JSON, and items as messages. */

import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import { fromBase64, toBase64 } from "../../model/base64.ts";
import type { Block } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject, type JsonValue, stringifyJson } from "../../model/json.ts";
import { MAX_JSON_DEPTH } from "../../model/limits.ts";

// Types of the OpenAI Agents SDK's sessions, as far as they are used here, declared without the
// package.

/**
 * An item of a conversation, such as a message, a call, a result or a thought, which is returned
 * unchanged. `any`, because the SDK's own type is a union that only the SDK names.
 */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's union of items must be assignable both ways.
export type AgentItem = any;

export interface HistoryTransactionArgs {
  readonly operationId: string;
  readonly transaction:
    | { readonly type: "append_items"; readonly items: readonly AgentItem[] }
    | {
        readonly type: "replace_suffix";
        readonly expectedSuffix: readonly AgentItem[];
        readonly replacement: readonly AgentItem[];
      };
}

export interface HistoryMutation {
  readonly type: "replace_function_call";
  readonly callId: string;
  readonly replacement: AgentItem;
}

/** Stands for bytes, in base64. An object of the caller's that has one of these names is wrapped. */
const BYTES = "$bytes";
const WRAPPED = "$object";

/**
 * JSON of an item. Throws `invalid_input` for values that JSON cannot hold, except bytes, and
 * `too_large` for deep nesting.
 */
export function toItemJson(value: unknown, depth = 0): JsonValue {
  if (value instanceof Uint8Array) return { [BYTES]: toBase64(value) };
  if (depth > MAX_JSON_DEPTH) throw tooDeep();
  if (Array.isArray(value)) return value.map((member) => toItemJson(member, depth + 1));
  if (!isPlainObject(value)) return value as JsonValue;
  checkNames(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  const fields = Object.fromEntries(
    entries.map(([name, member]) => [name, toItemJson(member, depth + 1)]),
  );
  return BYTES in fields || WRAPPED in fields ? { [WRAPPED]: fields } : fields;
}

function tooDeep(): BackscrollError {
  return new BackscrollError(
    "too_large",
    `an item nests deeper than ${MAX_JSON_DEPTH} levels, or refers to itself; flatten it`,
    { details: { field: "item", limit: MAX_JSON_DEPTH } },
  );
}

/** Refuses properties that JSON would silently drop, because they are not enumerable. */
function checkNames(value: object): void {
  const hidden = Reflect.ownKeys(value).find(
    (name) => typeof name === "symbol" || !Object.prototype.propertyIsEnumerable.call(value, name),
  );
  if (hidden === undefined) return;
  throw new BackscrollError(
    "invalid_input",
    `an item has a hidden field (${String(hidden)}), which JSON cannot hold; make it enumerable or remove it`,
    { details: { field: "item" } },
  );
}

function fromItemJson(json: JsonValue): unknown {
  if (Array.isArray(json)) return json.map((member) => fromItemJson(member));
  if (!isPlainObject(json)) return json;
  const fields = json as Readonly<Record<string, JsonValue>>;
  const { [BYTES]: bytes, [WRAPPED]: wrapped } = fields;
  if (typeof bytes === "string") return fromBase64(bytes);
  return fromFields((wrapped ?? fields) as Readonly<Record<string, JsonValue>>);
}

/** The same text for items that differ only in the order of fields. */
export function canonicalText(json: JsonValue): string {
  return stringifyJson(sorted(json), "item");
}

function sorted(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(sorted);
  if (!isPlainObject(json)) return json;
  const names = Object.keys(json).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(json[name] as JsonValue)]));
}

function fromFields(fields: Readonly<Record<string, JsonValue>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, member]) => [name, fromItemJson(member)]),
  );
}

// Maps items of a conversation to messages, for search and for people; the item itself is stored
// beside its message.

/**
 * Marks the sessions (`origin.source`), entries (`adapter`) and custom entries (`type`) of this
 * adapter.
 */
export const SOURCE = "openai-agents";

/** The metadata field of the first item after a compaction. */
const BOUNDARY = "historyStart";

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
