/**
 * Reads untrusted JSON: bounded while it arrives, parsed in slices.
 *
 * A large body is mostly one long array, such as the messages of an append. Its elements are parsed
 * in slices, with yields between them: a worker thread would not help, because the structured clone
 * is deserialised on the same event loop.
 */

import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";

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

export interface JsonBounds {
  readonly bytes: number;
  /** Strings, numbers, literals, objects and arrays; field names count too. */
  readonly values: number;
  readonly depth: number;
}

/** An array in a field of the outermost object: the byte offsets of its elements. */
interface ElementPlaces {
  /** After the opening bracket. */
  readonly start: number;
  /** Offsets of the separating commas, then of the closing bracket. */
  readonly ends: number[];
}

/** Kinds of bytes outside of strings. */
const BLANK = 0;
const WORD = 1;
const QUOTE = 2;
const OPEN_OBJECT = 3;
const OPEN_ARRAY = 4;
const CLOSE = 5;
const COMMA = 6;

const KIND = new Uint8Array(256).fill(WORD);
for (const blank of " \t\r\n:") KIND[blank.charCodeAt(0)] = BLANK;
KIND[0x22] = QUOTE;
KIND[0x7b] = OPEN_OBJECT;
KIND[0x5b] = OPEN_ARRAY;
KIND[0x7d] = CLOSE;
KIND[0x5d] = CLOSE;
KIND[0x2c] = COMMA;

const QUOTE_BYTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Counts the values of a JSON text, byte by byte, before it is parsed.
 *
 * `JSON.parse` expands `[{},{},…` from a few compressed kilobytes to gigabytes, and blocks the
 * event loop. So bytes, values and depth are counted on each decompressed chunk, and a text over
 * its bounds is refused with at most one chunk more in memory. It tracks only strings and brackets;
 * the parser checks the rest.
 */
export class JsonMeter {
  values = 0;
  bytes = 0;
  /** Arrays whose elements can be parsed one by one, in text order. */
  readonly arrays: ElementPlaces[] = [];
  readonly #bounds: JsonBounds;
  #depth = 0;
  #deepest = 0;
  #isString = false;
  #isEscaped = false;
  #isWord = false;
  #isObject = false;
  #elements: ElementPlaces | undefined;
  /** Each comma implies a value, so commas count as values. */
  #commas = 0;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** Throws `too_large` once the bounds are exceeded. */
  add(chunk: Uint8Array): void {
    const { length } = chunk;
    let { values } = this;
    let depth = this.#depth;
    let isWord = this.#isWord;
    let i = 0;
    while (i < length) {
      if (this.#isString) {
        i = this.#skipString(chunk, i);
        continue;
      }
      const kind = KIND[chunk[i] as number];
      if (kind === WORD) {
        if (!isWord) values++;
        isWord = true;
        i++;
        continue;
      }
      isWord = false;
      if (kind === QUOTE) {
        values++;
        this.#isString = true;
      } else if (kind === OPEN_OBJECT || kind === OPEN_ARRAY) {
        values++;
        depth++;
        if (depth > this.#deepest) this.#deepest = depth;
        if (depth === 1) this.#isObject = kind === OPEN_OBJECT;
        else if (depth === 2) this.#openField(kind === OPEN_ARRAY, this.bytes + i + 1);
      } else if (kind === CLOSE) {
        if (depth === 2) this.#closeField(this.bytes + i);
        depth--;
      } else if (kind === COMMA) {
        this.#commas++;
        if (depth === 2) this.#elements?.ends.push(this.bytes + i);
      }
      i++;
    }
    this.#depth = depth;
    this.#isWord = isWord;
    this.values = values;
    this.bytes += length;
    this.#check();
  }

  #check(): void {
    const { bytes } = this;
    const values = Math.max(this.values, this.#commas);
    const { bytes: maxBytes, values: maxValues, depth: maxDepth } = this.#bounds;
    if (this.#deepest > maxDepth) {
      const text = `nests deeper than ${maxDepth} levels; send a flatter value`;
      throw exceeded("depth", maxDepth, this.#deepest, text);
    }
    if (bytes > maxBytes) {
      throw exceeded(
        "bytes",
        maxBytes,
        bytes,
        `has more than ${maxBytes} bytes; send less at once`,
      );
    }
    if (values > maxValues) {
      const text = `holds more than ${maxValues} JSON values and names; send less at once`;
      throw exceeded("values", maxValues, values, text);
    }
  }

  /** After the end of the string, or of the chunk. */
  #skipString(chunk: Uint8Array, from: number): number {
    let i = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      i++;
    }
    const { length } = chunk;
    for (; i < length; i++) {
      const byte = chunk[i];
      if (byte === QUOTE_BYTE) {
        this.#isString = false;
        return i + 1;
      }
      if (byte === BACKSLASH) i++;
    }
    this.#isEscaped = i > length;
    return length;
  }

  #openField(isArray: boolean, start: number): void {
    if (isArray && this.#isObject) this.#elements = { start, ends: [] };
  }

  #closeField(end: number): void {
    if (this.#elements === undefined) return;
    this.#elements.ends.push(end);
    this.arrays.push(this.#elements);
    this.#elements = undefined;
  }
}

function exceeded(unit: string, limit: number, actual: number, what: string): BackscrollError {
  return new BackscrollError("too_large", `the body ${what}`, {
    details: { field: "body", unit, limit, actual },
  });
}
