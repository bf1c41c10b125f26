/**
 * Answers that never exceed a stated size.
 *
 * One tool result can be megabytes, and who reads an answer is a model with a budget. Every answer
 * goes through here, whatever it is made of: first its texts are cut as far as the tool allows, then
 * the tool is asked for less, then whatever is left is cut by force. What was done is said in it.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { BackscrollError } from "../model/errors.ts";
import { MAX_MCP_ANSWER_BYTES } from "../model/limits.ts";
import { cutToBytes } from "./cut-text.ts";

export interface AnswerBody {
  /** What was left out or cut to keep the answer small; null if nothing was. */
  readonly truncated: string | null;
}

export interface AnswerSource<Body extends AnswerBody> {
  /** Reads again with at most so many items; at first with as many as were asked for. */
  readonly read: (items: number) => Promise<Body>;
  /** How many items were asked for. 1: the tool has nothing to leave out, or must not run twice. */
  readonly items: number;
  /** The lengths in bytes to which texts may be cut before items are left out. */
  readonly cuts: readonly number[];
  /** The same for people and models that read text. */
  readonly toText: (body: Body) => string;
}

/** What the protocol puts round a result: its id, and who answered. */
const ENVELOPE_BYTES = 1_024;
/** What holds for a single item, too, and at last for everything. */
const LAST_CUTS = [16_384, 4_096, 1_024, 256];
/** What is left of lists and of objects without fields of their own when nothing else helps. */
const LAST_ITEMS = 16;
const LAST_FIELDS = 64;

export async function fitAnswer<Body extends AnswerBody>(
  source: AnswerSource<Body>,
  limit: number = MAX_MCP_ANSWER_BYTES,
): Promise<CallToolResult> {
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
  throw new BackscrollError("too_large", `the answer would take more than ${limit} bytes`, {
    details: { field: "answer", limit },
  });
}

function attempt<Body extends AnswerBody>(
  body: Body,
  { toText }: AnswerSource<Body>,
  limit: number,
  cut: (value: unknown) => unknown,
  note: string,
): CallToolResult | undefined {
  const small = { ...(cut(body) as Body), truncated: note === "" ? body.truncated : note };
  const text = note === "" ? toText(small) : `${toText(small)}\n\n${note}`;
  const result: CallToolResult = {
    content: [{ type: "text", text }],
    structuredContent: small as unknown as Record<string, unknown>,
  };
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return bytes + ENVELOPE_BYTES <= limit ? result : undefined;
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
