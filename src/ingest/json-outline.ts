/**
 * The beginning of a file of JSON, shortened: long strings are cut and long inner lists end early.
 *
 * A format is recognised by the names and short values of its first records, whatever stands
 * between them: a first line may hold megabytes before the fields that tell. What is kept is itself
 * JSON, apart from its end.
 *
 * It takes milliseconds whatever the bytes: work is counted, and the outline ends where there has
 * been too much. Long strings cost little, so what tells is found after many megabytes of text, but
 * not after a megabyte of small values or of escaped quotes.
 */

/** The most that is kept: the size of an ordinary head. */
const MAX_KEPT = 64 * 1024;
/** The most work, in bytes that are looked at one by one: 2 to 5 ns each. */
const MAX_WORK = 600_000;
/** The work of a native search, and of the bytes that it passes. */
const SEARCH_WORK = 4;
const BYTES_PER_WORK = 64;
/** Bytes of a string that are kept. An escape may begin up to its six bytes before. */
const KEPT_STRING = 256;
const LAST_ESCAPE = KEPT_STRING - 6;
/** An inner list or object of more kept bytes than this ends at its next comma. */
const KEPT_INNER = 2_048;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const BLANK = 0x20;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export class JsonOutline {
  readonly #kept = Buffer.allocUnsafe(MAX_KEPT);
  #length = 0;
  #seen = 0;
  #work = 0;
  /** The chunk with a character for each byte: a search in a string is five times as fast. */
  #text: string | undefined;
  /** Where the next line break of the chunk is. */
  #nextLine = -1;
  #depth = 0;
  /** The depth from which elements may be left out: the fields of a record stay. */
  #inner = 2;
  /** Where the inner value of depth `#inner` began in what is kept. */
  #innerStart = 0;
  /** The depth of the list or object whose rest is left out; 0: none. */
  #leaving = 0;
  #inString = false;
  #isEscaped = false;
  #stringLength = 0;
  #isDone = false;
  readonly #atLeast: number;

  /** It ends at the first end of a line after `atLeast` bytes. */
  constructor(atLeast: number) {
    this.#atLeast = atLeast;
  }

  /** Gives whether it needs the bytes after these. */
  push(chunk: Uint8Array): boolean {
    this.#text = undefined;
    this.#nextLine = -1;
    for (let i = 0; i < chunk.length && !this.#isDone; this.#work++) {
      if (this.#inString) i = this.#readString(chunk, i);
      else if (this.#leaving > 0) i = this.#leave(chunk, i);
      else i = this.#readOther(chunk, i);
      if (this.#length === MAX_KEPT || this.#work > MAX_WORK) this.#isDone = true;
    }
    this.#seen += chunk.length;
    return !this.#isDone;
  }

  get head(): Uint8Array {
    return this.#kept.subarray(0, this.#length);
  }

  #keep(byte: number): void {
    if (this.#length < MAX_KEPT) this.#kept[this.#length++] = byte;
  }

  /** Reads from inside a string; gives where it stopped. */
  #readString(chunk: Uint8Array, from: number): number {
    let i = from;
    while (i < chunk.length && this.#stringLength < KEPT_STRING && this.#leaving === 0) {
      const byte = chunk[i] as number;
      if (isStringEnd(byte) && !this.#isEscaped) return this.#endString(byte, i);
      const isBackslash = byte === BACKSLASH && !this.#isEscaped;
      if (isBackslash && this.#stringLength >= LAST_ESCAPE) break;
      this.#keep(byte);
      this.#stringLength++;
      this.#isEscaped = isBackslash;
      i++;
    }
    this.#work += i - from;
    if (i === chunk.length) return i;
    this.#stringLength = KEPT_STRING;
    if (this.#isEscaped) i++;
    const end = this.#stringEnd(chunk, i);
    this.#isEscaped = end > chunk.length;
    if (end >= chunk.length) return chunk.length;
    return this.#endString(chunk[end] as number, end);
  }

  /** A raw line break is in no string: the line is torn, and another begins. */
  #endString(byte: number, at: number): number {
    this.#inString = false;
    this.#isEscaped = false;
    this.#stringLength = 0;
    if (byte === NEWLINE) {
      this.#depth = 0;
      this.#leaving = 0;
      return at;
    }
    if (this.#leaving === 0) this.#keep(QUOTE);
    return at + 1;
  }

  /** Passes the rest of a list or object; gives where it stopped. */
  #leave(chunk: Uint8Array, from: number): number {
    let depth = this.#depth;
    let i = from;
    const end = Math.min(chunk.length, from + MAX_WORK - this.#work);
    while (i < end) {
      const byte = chunk[i] as number;
      if (byte === QUOTE) {
        // Most strings in a list are short, and end here.
        i = shortStringEnd(chunk, i + 1);
        this.#work += SEARCH_WORK;
        if (chunk[i] !== QUOTE) {
          this.#inString = true;
          break;
        }
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth === this.#leaving) {
          this.#leaving = 0;
          break;
        }
        depth--;
      }
      i++;
    }
    this.#depth = depth;
    this.#work += i - from + 1;
    return i;
  }

  #skipBlanks(chunk: Uint8Array, from: number): number {
    const end = Math.min(chunk.length, from + MAX_WORK - this.#work);
    let i = from + 1;
    while (i < end && isBlank(chunk[i] as number, this.#depth)) i++;
    this.#work += i - from;
    return i;
  }

  /** Where a string ends, at its quote or at a line break; beyond the chunk if it does not. */
  #stringEnd(chunk: Uint8Array, from: number): number {
    let i = from;
    this.#text ??= Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1");
    while (i < chunk.length && this.#work <= MAX_WORK) {
      if (this.#nextLine < i) this.#nextLine = indexOrEnd(this.#text, "\n", i);
      const quote = indexOrEnd(this.#text, '"', i);
      this.#work += SEARCH_WORK + Math.ceil((quote - i) / BYTES_PER_WORK);
      if (this.#nextLine < quote) return this.#nextLine;
      let at = quote;
      while (at > i && chunk[at - 1] === BACKSLASH) at--;
      const isEscaped = (quote - at) % 2 === 1;
      this.#work += quote - at;
      if (!isEscaped) return quote;
      i = quote + 1;
    }
    return i;
  }

  /** Reads one byte outside of strings; gives the next position. */
  #readOther(chunk: Uint8Array, i: number): number {
    const byte = chunk[i] as number;
    // White space tells nothing; a line break inside of a document is white space.
    if (isBlank(byte, this.#depth)) return this.#skipBlanks(chunk, i);
    switch (byte) {
      case NEWLINE:
        this.#isDone = this.#seen + i >= this.#atLeast;
        break;
      case QUOTE:
        this.#inString = true;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.#depth++;
        if (this.#depth === 1) this.#inner = byte === OPEN_LIST ? 3 : 2;
        if (this.#depth === this.#inner) this.#innerStart = this.#length;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.#depth = Math.max(0, this.#depth - 1);
        break;
      case COMMA:
        if (this.#depth < this.#inner || this.#length - this.#innerStart <= KEPT_INNER) break;
        this.#leaving = this.#depth;
        return i + 1;
    }
    this.#keep(byte);
    return i + 1;
  }
}

function isBlank(byte: number, depth: number): boolean {
  return byte <= BLANK && (byte !== NEWLINE || depth > 0);
}

function isStringEnd(byte: number): boolean {
  return byte === QUOTE || byte === NEWLINE;
}

/** Where a string ends, or stops being short: before an escape, a line break or many bytes. */
function shortStringEnd(chunk: Uint8Array, from: number): number {
  const end = Math.min(chunk.length, from + SHORT_STRING);
  let i = from;
  while (i < end) {
    const byte = chunk[i] as number;
    if (byte === QUOTE || byte === BACKSLASH || byte === NEWLINE) break;
    i++;
  }
  return i;
}

const SHORT_STRING = 64;

function indexOrEnd(text: string, char: string, from: number): number {
  const at = text.indexOf(char, from);
  return at < 0 ? text.length : at;
}

/** Whether bytes begin with an object or a list. */
export function beginsLikeJson(head: Uint8Array): boolean {
  const first = head.find((byte) => !BEFORE_JSON.includes(byte));
  return first === OPEN_OBJECT || first === OPEN_LIST;
}

/** White space and the bytes of a byte order mark. */
const BEFORE_JSON: readonly number[] = [0x20, 0x09, 0x0d, NEWLINE, 0xef, 0xbb, 0xbf];
