/**
 * Bounded answers.
 *
 * Clients pass a model either the text or the data of an answer, usually the data if present. So an
 * answer is either text alone, written for a model; or data, with the same JSON as its text. An
 * oversized answer has its texts cut as far as the tool allows, then fewer items, then is
 * truncated, with a note.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { MAX_MCP_ANSWER_BYTES } from "../model/limits.ts";
import { cutQuoted, cutToBytes } from "./fit-listing.ts";

/**
 * Truncates data to a number of bytes as JSON: the last resort of a data answer. Small fields stay
 * whole, long texts are cut, lists end early, and fields without room are left out.
 *
 * A shorter text may be an id, a time or a name, which must not be cut.
 */
const WHOLE_BYTES = 64;

/** Undefined if no part of `value` fits. */
export function fitJson(value: unknown, bytes: number): unknown {
  if (sizeOf(value) <= bytes) return value;
  if (typeof value === "string") return fitText(value, bytes);
  if (Array.isArray(value)) return fitList(value, bytes);
  if (typeof value === "object" && value !== null) return fitFields(value, bytes);
  return undefined;
}

function fitText(text: string, bytes: number): string | undefined {
  if (sizeOf(text) <= WHOLE_BYTES) return undefined;
  // Escaped characters take more than one byte.
  for (let room = bytes - 2; room >= WHOLE_BYTES; room = Math.floor(room * 0.8)) {
    const cut = cutToBytes(text, room);
    if (sizeOf(cut) <= bytes) return cut;
  }
  return undefined;
}

/** The first items that fit; the first one is truncated if it does not. */
function fitList(items: readonly unknown[], bytes: number): readonly unknown[] | undefined {
  let room = bytes - "[]".length;
  if (room < 0) return undefined;
  const shown: unknown[] = [];
  for (const item of items) {
    const fitted = shown.length === 0 ? fitJson(item, room) : item;
    const size = fitted === undefined ? Number.POSITIVE_INFINITY : sizeOf(fitted) + 1;
    if (size > room + 1) break;
    room -= size;
    shown.push(fitted);
  }
  return shown;
}

/** Each field gets an equal share; the remainder of small fields goes to larger ones. */
function fitFields(value: object, bytes: number): object | undefined {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const smallestFirst = fields
    .map(([name, field]) => ({ name, field, size: sizeOf(field), key: sizeOf(name) + 2 }))
    .sort((a, b) => a.size + a.key - (b.size + b.key));
  let room = bytes - "{}".length;
  if (room < 0) return undefined;
  const kept = new Map<string, unknown>();
  for (const [i, { name, field, key }] of smallestFirst.entries()) {
    const share = Math.floor(room / (smallestFirst.length - i)) - key;
    const fitted = share < 0 ? undefined : fitJson(field, share);
    if (fitted === undefined) continue;
    room -= sizeOf(fitted) + key;
    kept.set(name, fitted);
  }
  // In the value's own order.
  const shown = fields.filter(([name]) => kept.has(name)).map(([name]) => [name, kept.get(name)]);
  return Object.fromEntries(shown) as object;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

export interface AnswerBody {
  /** Notes on omitted or cut parts; null if there are none. */
  readonly truncated: string | null;
}

export interface AnswerSize {
  /** The whole answer as JSON, UTF-8. */
  readonly bytes: number;
  /** The part that a client passes on: the text, or the data as JSON. */
  readonly passedOn: number;
}

export interface AnswerSource<Body extends AnswerBody> {
  /** Reads again with at most so many items; first with the requested number. */
  readonly read: (items: number) => Promise<Body>;
  /** Requested items. 1: the tool cannot omit items, or must not run twice. */
  readonly items: number;
  /** The lengths in bytes to which texts may be cut before items are left out. */
  readonly cuts: readonly number[];
  /** Formats a text answer. Without it the answer is data. */
  readonly toText?: (body: Body) => string;
}

/** The protocol's envelope of a result. */
const ENVELOPE_BYTES = 1_024;
/** The last cuts of texts, for any tool and a single item. */
const LAST_CUTS = [16_384, 4_096, 1_024, 256];
/** The last resort: the limit of lists and maps. */
const LAST_ITEMS = 16;
const LAST_FIELDS = 64;

/**
 * Data is sent twice: as JSON, and as JSON text in a string, where quotes and line breaks take two
 * bytes.
 */
const COPIES = 3;
const FORCED =
  "Shortened to max_tokens: fields and items without room are left out, and long texts are cut. Raise max_tokens, or leave detail out.";

export async function fitAnswer<Body extends AnswerBody>(
  source: AnswerSource<Body>,
  { bytes = MAX_MCP_ANSWER_BYTES, passedOn = MAX_MCP_ANSWER_BYTES }: Partial<AnswerSize> = {},
): Promise<CallToolResult> {
  const limit = { bytes, passedOn };
  let { items } = source;
  let body = await source.read(items);
  for (;;) {
    for (const cut of [Number.POSITIVE_INFINITY, ...source.cuts]) {
      const note = noteOf(source.items, items, cut);
      const result = attempt(body, source, limit, (value) => cutStrings(value, cut), note);
      if (result !== undefined) return result;
    }
    if (items === 1) break;
    items = Math.floor(items / 2);
    body = await source.read(items);
  }
  for (const cut of LAST_CUTS) {
    const note = noteOf(source.items, items, cut);
    const result = attempt(body, source, limit, (value) => cutStrings(value, cut), note);
    if (result !== undefined) return result;
  }
  const note = `${noteOf(source.items, items, LAST_CUTS.at(-1) ?? 0)} Long lists are cut to ${LAST_ITEMS}.`;
  const result = attempt(body, source, limit, cutEverything, note);
  if (result !== undefined) return result;
  if (source.toText !== undefined) {
    const text = source.toText(cutEverything(body) as Body);
    return toTextAnswer(cutQuoted(`${note}\n\n${text}`, Math.min(passedOn, bytes / 4)));
  }
  return fitData(body, Math.min(passedOn, Math.floor((bytes - ENVELOPE_BYTES) / COPIES)));
}

/** Keeps the notice about untrusted data and the truncation note whole. */
function fitData(body: AnswerBody, bytes: number): CallToolResult {
  const { truncated: _, about, ...rest } = body as AnswerBody & { readonly about?: string };
  const kept = { ...(about === undefined ? {} : { about }), truncated: FORCED };
  // Merging two objects leaves two of four braces, and adds a comma.
  const room = bytes - Buffer.byteLength(JSON.stringify(kept)) + 1;
  return toDataAnswer({ ...(fitJson(rest, Math.max(2, room)) as object), ...kept });
}

export function toTextAnswer(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function attempt<Body extends AnswerBody>(
  body: Body,
  { toText }: AnswerSource<Body>,
  limit: AnswerSize,
  cut: (value: unknown) => unknown,
  note: string,
): CallToolResult | undefined {
  const small = { ...(cut(body) as Body), truncated: note === "" ? body.truncated : note };
  const result =
    toText === undefined ? toDataAnswer(small) : toTextAnswer(withNote(toText(small), note));
  const [passedOn] = result.content;
  if (passedOn?.type !== "text" || Buffer.byteLength(passedOn.text) > limit.passedOn) return;
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return bytes + ENVELOPE_BYTES <= limit.bytes ? result : undefined;
}

function toDataAnswer(body: AnswerBody): CallToolResult {
  return {
    ...toTextAnswer(JSON.stringify(body)),
    structuredContent: body as unknown as Record<string, unknown>,
  };
}

function withNote(text: string, note: string): string {
  return note === "" ? text : `${text}\n\n${note}`;
}

function noteOf(asked: number, shown: number, cut: number): string {
  const notes = [
    ...(shown < asked ? [`At most ${shown} of the ${asked} that were asked for are shown.`] : []),
    ...(Number.isFinite(cut) ? [`Texts are cut to ${cut} bytes.`] : []),
  ];
  return notes.length === 0 ? "" : `Shortened to keep the answer small: ${notes.join(" ")}`;
}

function cutStrings(value: unknown, bytes: number): unknown {
  if (bytes === Number.POSITIVE_INFINITY) return value;
  if (typeof value === "string") return cutToBytes(value, bytes);
  if (Array.isArray(value)) return value.map((item) => cutStrings(item, bytes));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, cutStrings(field, bytes)]);
  return Object.fromEntries(fields);
}

function cutEverything(value: unknown): unknown {
  if (typeof value === "string") return cutToBytes(value, LAST_CUTS.at(-1) ?? 0);
  if (Array.isArray(value)) return value.slice(0, LAST_ITEMS).map(cutEverything);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).slice(0, LAST_FIELDS);
  return Object.fromEntries(
    fields.map(([key, field]) => [cutToBytes(key, 256), cutEverything(field)]),
  );
}
