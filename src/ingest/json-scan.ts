/**
 * What stands where in a line of JSON, found without parsing it.
 *
 * Most of a line are strings, and the end of one is found by looking for quotes, several times faster
 * than its text can be made. So a value that nobody needs is passed over, and whether a number could
 * lose digits is asked of numbers alone, not of every string.
 *
 * Nothing here says whether the text is JSON. Whoever parses what is left finds out.
 */

export interface ScannedObject {
  /** Levels of objects and lists, itself included. */
  readonly depth: number;
  /** Whether a number has so many digits, or an exponent, that reading it may change it. */
  readonly hasLongNumbers: boolean;
  /** The value of the field that was looked for, if the object has one. */
  readonly value?: Span;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Fewer digits than this are always exact. */
const LONG_NUMBER = 16;

/**
 * Looks through `text`, an object, for its own field `name`. Undefined if it has no such form: then it
 * is for the parser to say what is wrong.
 */
export function scanObject(text: string, name?: string): ScannedObject | undefined {
  let depth = 0;
  let deepest = 0;
  let hasLongNumbers = false;
  let isKey = false;
  let isWanted = false;
  let start = -1;
  let value: Span | undefined;
  const { length } = text;
  for (let i = 0; i < length; ) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i + 1);
      if (end < 0) return undefined;
      if (isKey && depth === 1 && name !== undefined) {
        isWanted = end - i - 1 === name.length && text.startsWith(name, i + 1);
      }
      isKey = false;
      i = end + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
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
      i++;
      if (depth === 0) break;
    } else if (code === COMMA) {
      isKey = depth === 1;
      if (isKey && start >= 0) {
        value = { start, end: i };
        start = -1;
      }
      i++;
    } else if (code === COLON) {
      i++;
      // The last of several counts, as it does to a parser.
      if (isWanted) start = i;
      isWanted = false;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, i + 1);
      hasLongNumbers ||= end - i >= LONG_NUMBER || hasExponent(text, i, end);
      i = end;
    } else i++;
  }
  if (depth !== 0 || deepest === 0) return undefined;
  return { depth: deepest, hasLongNumbers, ...(value === undefined ? undefined : { value }) };
}

/** The fields of an object, each with its text; undefined if it has no such form. */
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

/** Where the closing quote of a string stands whose text begins at `start`; -1 if it has none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    if (text.charCodeAt(end - 1) !== BACKSLASH) return end;
    let slashes = 1;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function endOfNumber(text: string, start: number): number {
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    // A comma, a bracket or a space ends it: all that a number consists of is none of these.
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST || code <= 0x20) break;
  }
  return end;
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) if ((text.charCodeAt(i) | 0x20) === 0x65) return true;
  return false;
}

function nameOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    // No JSON: whoever parses the object finds out.
    return undefined;
  }
}
