/**
 * What every converter of a provider's messages shares: its result, and how foreign values are read.
 *
 * A converter is lenient: a part that has no form of ours stays, as the provider's own. It refuses
 * only what is no message of its provider.
 */

import { toBase64 } from "../model/base64.ts";
import type { Block, ImageBlock } from "../model/block.ts";
import type { ForeignRole, Role, Usage } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { describe, stringifyJson } from "../model/json.ts";

/** A message to append. */
export interface ConvertedMessage {
  readonly role: Role | ForeignRole;
  readonly content: readonly Block[];
  /** The model that wrote it, and what the call used, where the provider told. */
  readonly model?: string;
  readonly usage?: Usage;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A list, or one as a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Objects of SDKs are often instances of classes. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown, field: string): Fields {
  if (isObject(value)) return value;
  throw notOne(field, `must be an object, not ${describe(value)}`);
}

export function textField(fields: Fields, name: string, field: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw notOne(`${field}.${name}`, `must be a string, not ${describe(value)}`);
}

export function notOne(field: string, problem: string): BackscrollError {
  return new BackscrollError("invalid_input", `${field} ${problem}`, { details: { field } });
}

/** None for blank text, which no provider takes back. */
export function texts(value: unknown): Block[] {
  return typeof value === "string" && value !== "" ? [{ type: "text", text: value }] : [];
}

/** A part without a form of ours, kept for its own provider. */
export function own(provider: string, value: unknown, field: string): Block {
  return { type: "opaque", provider, json: stringifyJson(value, field) };
}

/** Text as it is, anything else as its JSON. */
export function asText(value: unknown, field: string): string {
  return typeof value === "string" ? value : stringifyJson(value ?? null, field);
}

const DATA_URL = /^data:([^;,]{0,200})[^,]{0,200},/i;

/** An image of an address, a data URL, base64 text or bytes. */
export function imageOf(value: unknown, mediaType: unknown): ImageBlock | undefined {
  const type = typeof mediaType === "string" && mediaType.includes("/") ? { mediaType } : {};
  if (value instanceof URL) return imageOf(value.href, mediaType);
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  if (bytes instanceof Uint8Array) {
    return { type: "image", ...type, data: toBase64(bytes) };
  }
  if (typeof value !== "string") return undefined;
  const inline = DATA_URL.exec(value);
  if (inline !== null) {
    return { type: "image", mediaType: inline[1] ?? "", data: value.slice(inline[0].length) };
  }
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value)
    ? { type: "image", ...type, url: value }
    : { type: "image", ...type, data: value };
}

/** A provider's counts as ours; undefined without any. `input` is without what was read or written. */
export function usageOf(
  counts: {
    readonly [Name in keyof Usage]: unknown;
  },
): { readonly usage?: Usage } {
  const usage: Usage = {
    inputTokens: count(counts.inputTokens),
    outputTokens: count(counts.outputTokens),
    cacheCreationTokens: count(counts.cacheCreationTokens),
    cacheReadTokens: count(counts.cacheReadTokens),
  };
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = usage;
  const total = inputTokens + outputTokens + cacheCreationTokens + cacheReadTokens;
  return total > 0 ? { usage } : {};
}

export function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(value) : 0;
}

export function modelOf(value: unknown): { readonly model?: string } {
  return typeof value === "string" && value !== "" ? { model: value } : {};
}

/** What a call used belongs to the last message that the model wrote in it. */
export function withCall(
  messages: readonly ConvertedMessage[],
  call: Pick<ConvertedMessage, "model" | "usage">,
): ConvertedMessage[] {
  const { model } = call;
  const last = messages.findLastIndex(isAnswer);
  return messages.map((message, i) => {
    if (i === last) return { ...message, ...call };
    return isAnswer(message) && model !== undefined ? { ...message, model } : message;
  });
}

function isAnswer({ role }: ConvertedMessage): boolean {
  return role === "assistant" || role === "model";
}

/** Without messages that say nothing. */
export function filled(messages: readonly ConvertedMessage[]): ConvertedMessage[] {
  return messages.filter(({ content }) => content.length > 0);
}
