/** Reads fields of foreign records: a value of an unexpected type counts as absent. */

import type { Block, ToolResultBlock } from "../model/block.ts";
import type { Usage } from "../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** For objects under construction. */
export type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

/** Empty if it is not an object. */
export function objectField(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isPlainObject(value) ? value : {};
}

/** The objects in a list; none if it is not a list. */
export function objectsIn(value: unknown): Fields[] {
  return (Array.isArray(value) ? value : []).filter(isPlainObject);
}

/** The limit of a name's length. */
const MAX_NAME = 64;

/**
 * A printable name of a foreign value, for ids, types and messages. `String` would call its
 * `toString`, which is untrusted.
 */
export function nameOf(value: unknown): string {
  if (typeof value === "string") return value;
  const text = value === undefined ? "undefined" : (JSON.stringify(value) ?? "undefined");
  return text.slice(0, MAX_NAME);
}

/** Token counts, indexes: non-negative integers. */
export function countField(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** A cost: a non-negative number. */
export function costField(fields: Fields, name: string): { readonly cost?: number } {
  const value = fields[name];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? { cost: value } : {};
}

/** Epoch milliseconds of a number or of an ISO 8601 text. */
export function timeField(fields: Fields, name: string): number | null {
  const value = fields[name];
  const time = typeof value === "string" ? Date.parse(value) : value;
  return Number.isSafeInteger(time) && (time as number) >= 0 && (time as number) <= 8.64e15
    ? (time as number)
    : null;
}

/** The fields that are not among `known`, unchanged. */
export function otherFields(fields: Fields, known: readonly string[]): JsonObject {
  const others: Record<string, unknown> = {};
  // A hot path: building pairs would cost four times as much.
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) setField(others, name, fields[name]);
  }
  return others as JsonObject;
}

/** Drops undefined values and empty objects. */
export function presentFields(fields: Record<string, JsonValue | undefined>): JsonObject {
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined && !isEmpty(value)) setField(present, name, value);
  }
  return present as JsonObject;
}

/** Sets a field of any foreign name, `__proto__` included. */
export function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") fields[name] = value;
  else Object.defineProperty(fields, name, { value, ...PLAIN });
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

/** Whether it is an object without fields. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** `more` has the fields of the source that stay on the block. */
export function resultBlock(
  toolUseId: string,
  toolName: string | undefined,
  output: ToolResultBlock["output"],
  isError: boolean,
  more: JsonObject = {},
): ToolResultBlock {
  const named = toolName === undefined ? {} : { toolName };
  return { ...more, type: "tool_result", toolUseId, ...named, output, isError };
}

/** A thought, with the signature of its provider. `more` has the fields of the source that stay on the block. */
export function thinkingBlock(text: string, signature?: string, more: JsonObject = {}): Block {
  return { ...more, type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
}

/** An image in `data` and `mimeType`; undefined without one of them. */
export function toImageBlock(fields: Fields, more: JsonObject = {}): Block | undefined {
  const [data, mediaType] = [textField(fields, "data"), textField(fields, "mimeType")];
  if (data === undefined || mediaType === undefined) return undefined;
  return { ...more, type: "image", mediaType, data };
}

/** The usage of a call whose provider counts cache reads and writes as input. */
export function toPromptUsage(
  input: number,
  outputTokens: number,
  cacheReadTokens: number,
  cacheCreationTokens: number,
): Usage {
  const inputTokens = Math.max(0, input - cacheReadTokens - cacheCreationTokens);
  return { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens };
}

export function toTextBlock(fields: Fields): Block | undefined {
  const text = textField(fields, "text");
  if (text === undefined) return undefined;
  return { ...otherFields(fields, ["type", "text"]), type: "text", text };
}

/** `inputName` is the field of the arguments: text is kept to the byte, other values as JSON. */
export function toCallBlock(fields: Fields, inputName: string): Block | undefined {
  const id = textField(fields, "id");
  const name = textField(fields, "name");
  const input = fields[inputName];
  if (id === undefined || name === undefined || input === undefined) return undefined;
  return {
    ...otherFields(fields, ["type", "id", "name", inputName]),
    type: "tool_use",
    id,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input),
  };
}

/**
 * Replaces each `<name>…</name>` by what `put` gives for it. An element ends at the first end of its
 * name. In one pass, also over openings without an end, after each of which a pattern would search
 * the rest of the text.
 */
export function replaceTagged(
  text: string,
  names: readonly string[],
  put: (inner: string, whole: string) => string,
): string {
  const lastEnds = new Map(names.map((name) => [name, text.lastIndexOf(`</${name}>`)]));
  let made = "";
  let from = 0;
  for (const { index, 1: name = "" } of text.matchAll(new RegExp(`<(${names.join("|")})>`, "g"))) {
    if (index < from || index > (lastEnds.get(name) ?? -1)) continue;
    const end = text.indexOf(`</${name}>`, index);
    const after = end + name.length + 3;
    const inner = text.slice(index + name.length + 2, end);
    made += text.slice(from, index) + put(inner, text.slice(index, after));
    from = after;
  }
  return made + text.slice(from);
}
