/**
 * Reads untrusted JSON: bounded while it arrives, parsed in slices.
 *
 * A large body is mostly one long array, such as the messages of an append. Its elements are parsed
 * in slices, with yields between them: a worker thread would not help, because the structured clone
 * is deserialised on the same event loop.
 */

import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";
import { type ElementPlaces, type JsonBounds, JsonMeter } from "./json-meter.ts";

/** Runs a piece of work that blocks the event loop, at once or in the caller's turn. */
export type RunWork = <Result>(work: () => Result) => Promise<Result>;

/** Larger bodies are parsed in slices. */
export const WHOLE_BYTES: number = 4 * 1024 * 1024;
/** Bytes of neighbouring elements parsed at once: some 5 ms, if they are many and small. */
const SLICE_BYTES = 256 * 1024;

/** The value; undefined without bytes. Throws `too_large` or `invalid_input`. */
export async function readBoundedJson(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bounds: JsonBounds,
  run: RunWork,
): Promise<unknown> {
  const meter = new JsonMeter(bounds);
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    await run(() => meter.add(chunk));
    parts.push(chunk);
  }
  if (meter.bytes === 0) return undefined;
  const bytes = joinBytes(parts, meter.bytes);
  if (bytes.length <= WHOLE_BYTES) return run(() => parse(decode(bytes)));
  return parseSlices(bytes, meter.arrays, run);
}

/** Equals `JSON.parse` of the whole text. `arrays` are those of the outermost object's fields. */
export async function parseSlices(
  bytes: Uint8Array,
  arrays: readonly ElementPlaces[],
  run: RunWork,
): Promise<unknown> {
  if (arrays.length === 0) return run(() => parse(decode(bytes)));
  const lists: unknown[][] = [];
  const frame: string[] = [];
  let from = 0;
  for (const [number, { start, ends }] of arrays.entries()) {
    // The array's number replaces its elements.
    frame.push(decode(bytes.subarray(from, start)), String(number));
    from = ends.at(-1) ?? start;
    lists.push(await parseElements(bytes, { start, ends }, run));
  }
  frame.push(decode(bytes.subarray(from)));
  return run(() => withLists(parse(frame.join("")), lists));
}

/** Puts each list back in place of its number. */
function withLists(value: unknown, lists: readonly unknown[][]): unknown {
  if (!isPlainObject(value)) return value;
  for (const [name, field] of Object.entries(value)) {
    if (!Array.isArray(field)) continue;
    const list = lists[field[0] as number] as unknown[];
    // Assignment would call the setter of `__proto__`.
    Object.defineProperty(value, name, {
      value: list,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

async function parseElements(
  bytes: Uint8Array,
  { start, ends }: ElementPlaces,
  run: RunWork,
): Promise<unknown[]> {
  const elements: unknown[] = [];
  let from = start;
  let count = 0;
  for (const [i, end] of ends.entries()) {
    count++;
    const isLast = i === ends.length - 1;
    if (!isLast && end - from < SLICE_BYTES) continue;
    const slice = bytes.subarray(from, end);
    const parsed = await run(() => parse(`[${decode(slice)}]`) as unknown[]);
    // Only an empty array may be blank between its brackets.
    if (parsed.length !== count && !(ends.length === 1 && parsed.length === 0)) throw noJson("");
    for (const element of parsed) elements.push(element);
    from = end + 1;
    count = 0;
  }
  return elements;
}

function joinBytes(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid("the body is not UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (error) {
    throw noJson((error as Error).message);
  }
}

const BYTE_ORDER_MARK = 0xfeff;

/** The parser's message without its quote, which is content. */
function noJson(message: string): BackscrollError {
  const reason =
    message
      .split(/[,"'`(]/, 1)[0]
      ?.trim()
      .slice(0, 80) ?? "";
  return invalid(`the body is not JSON${reason === "" ? "" : `: ${reason}`}`);
}

function invalid(message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field: "body" } });
}
