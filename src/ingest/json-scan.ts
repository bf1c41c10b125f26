/**
 * A structural scanner: locates the fields of a line of JSON without parsing it.
 *
 * Most of a line is strings, and scanning for a closing quote is several times faster than
 * decoding. So unused values are skipped, and only numbers are checked for lost digits.
 *
 * Values must be at valid positions, so that a torn record and its successor are not taken for one.
 * The parser validates escapes and bracket types.
 */

import { type Batched, mapBatches } from "./batches.ts";
import type { Line } from "./lines.ts";

export interface ScannedObject {
  /** The end of the object; the text after it is not scanned. */
  readonly end: number;
  /** Levels of objects and lists, itself included. */
  readonly depth: number;
  /** Whether a number has so many digits, or an exponent, that parsing may change it. */
  readonly hasLongNumbers: boolean;
  /** The value of the requested field, if present. */
  readonly value?: Span;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Fewer digits than this are always exact. */
const LONG_NUMBER = 16;

/**
 * Finds the top-level field `name` of the object `text`. Undefined for malformed text, which the
 * parser then reports.
 */
export function scanObject(text: string, name?: string): ScannedObject | undefined {
  let depth = 0;
  let deepest = 0;
  let hasLongNumbers = false;
  let isKey = false;
  let isWanted = false;
  let start = -1;
  let value: Span | undefined;
  /** Whether a value or a name has just ended: another may not follow directly. */
  let isAfter = false;
  const { length } = text;
  let i = 0;
  while (i < length) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      if (isAfter) return undefined;
      const end = endOfString(text, i + 1);
      if (end < 0) return undefined;
      if (isKey && depth === 1 && name !== undefined) {
        isWanted = end - i - 1 === name.length && text.startsWith(name, i + 1);
      }
      isKey = false;
      isAfter = true;
      i = end + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (isAfter) return undefined;
      if (depth++ === 0 && code === OPEN_LIST) return undefined;
      if (depth > deepest) deepest = depth;
      isKey = code === OPEN_OBJECT;
      i++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (depth === 1 && start >= 0) {
        value = { start, end: i };
        start = -1;
      }
      depth--;
      isAfter = true;
      i++;
      if (depth <= 0) break;
    } else if (code === COMMA) {
      if (!isAfter) return undefined;
      isAfter = false;
      isKey = depth === 1;
      if (isKey && start >= 0) {
        value = { start, end: i };
        start = -1;
      }
      i++;
    } else if (code === COLON) {
      if (!isAfter) return undefined;
      isAfter = false;
      i++;
      // The last of several counts, as in a parser.
      if (isWanted) start = i;
      isWanted = false;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      if (isAfter) return undefined;
      const end = endOfNumber(text, i + 1);
      hasLongNumbers ||= end - i >= LONG_NUMBER || hasExponent(text, i, end);
      isAfter = true;
      i = end;
    } else if (code <= SPACE) i++;
    else {
      const word = isAfter ? 0 : wordLength(text, i, code);
      if (word === 0) return undefined;
      isAfter = true;
      i += word;
    }
  }
  if (depth !== 0 || deepest === 0) return undefined;
  return {
    end: i,
    depth: deepest,
    hasLongNumbers,
    ...(value === undefined ? undefined : { value }),
  };
}

/**
 * Whether a JSON text holds more than `limit` values, field names included. Their number determines
 * a parser's memory and time: many small ones are the worst.
 */
export function hasMoreValues(text: string, limit: number): boolean {
  // Each takes at least two characters: itself and a separator, or two brackets.
  if (text.length < 2 * limit) return false;
  let values = 0;
  let isWord = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      values++;
      isWord = false;
      // Not `endOfString`, which is slow for strings of escaped quotes.
      for (i++; i < text.length; i++) {
        const inner = text.charCodeAt(i);
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) i++;
      }
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values++;
      isWord = false;
    } else if (isBetween(code)) isWord = false;
    else if (!isWord) {
      values++;
      isWord = true;
    }
    if (values > limit) return true;
  }
  return false;
}

function isBetween(code: number): boolean {
  const isClosing = code === CLOSE_OBJECT || code === CLOSE_LIST;
  return code === COMMA || code === COLON || code <= SPACE || isClosing;
}

/** The fields of an object, each with its text; undefined if malformed. */
export function* scanFields(text: string): Generator<{ readonly name: string } & Span> {
  let depth = 0;
  let name: string | undefined;
  let key: Span | undefined;
  let start = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i + 1);
      if (end < 0) return;
      if (depth === 1 && start < 0) key = { start: i, end: end + 1 };
      i = end;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++;
    else if (code === COLON && depth === 1 && start < 0 && key !== undefined) {
      name = nameOf(text.slice(key.start, key.end));
      start = i + 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST || (code === COMMA && depth === 1)) {
      if (depth === 1 && name !== undefined && start >= 0) yield { name, start, end: i };
      if (depth === 1) start = -1;
      if (code !== COMMA) depth--;
    }
  }
}

/** The index of the closing quote of a string that begins at `start`; -1 if none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    if (slashesBefore(text, end, start) % 2 === 0) return end;
  }
  return -1;
}

/** The number of consecutive backslashes before `end`, from `start` on. */
export function slashesBefore(text: string, end: number, start: number): number {
  let slashes = 0;
  while (end - slashes > start && text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
  return slashes;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function endOfNumber(text: string, start: number): number {
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code >= ZERO && code <= NINE) continue;
    const isPart = code === POINT || code === MINUS || code === PLUS || (code | 0x20) === LETTER_E;
    if (!isPart) break;
  }
  return end;
}

/** Length of the JSON literal that begins at `start` with `code`; 0 if none. */
function wordLength(text: string, start: number, code: number): number {
  if (code === LETTER_T) return text.startsWith("true", start) ? 4 : 0;
  if (code === LETTER_F) return text.startsWith("false", start) ? 5 : 0;
  return code === LETTER_N && text.startsWith("null", start) ? 4 : 0;
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) if ((text.charCodeAt(i) | 0x20) === LETTER_E) return true;
  return false;
}

function nameOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    // Not JSON: the parser reports it.
    return undefined;
  }
}

/** Marks lines with more than `limit` values, so that readers count and skip them. */
export function limitValues(lines: AsyncIterable<Line>, limit: number): Batched<Line> {
  return mapBatches(lines, function* (batch) {
    for (const line of batch) {
      const isTooMuch = line.damage !== "too_long" && hasMoreValues(line.text, limit);
      yield isTooMuch ? { ...line, moreValuesThan: limit } : line;
    }
  });
}
