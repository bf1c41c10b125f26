/**
 * Counts the values of a JSON text, byte by byte, before it is parsed.
 *
 * `JSON.parse` expands `[{},{},…` from a few compressed kilobytes to gigabytes, and blocks the
 * event loop. So bytes, values and depth are counted on each decompressed chunk, and a text over
 * its bounds is refused with at most one chunk more in memory. It tracks only strings and brackets;
 * the parser checks the rest.
 */

import { BackscrollError } from "../../model/errors.ts";

export interface JsonBounds {
  readonly bytes: number;
  /** Strings, numbers, literals, objects and arrays; field names count too. */
  readonly values: number;
  readonly depth: number;
}

/** An array in a field of the outermost object: the byte offsets of its elements. */
export interface ElementPlaces {
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
