/**
 * The beginning of a file of JSON, shortened: long strings are cut and long inner lists end early.
 *
 * A format is recognised by the names and short values of its first records, whatever stands
 * between them: a first line may hold megabytes before the fields that tell. Linear in the bytes,
 * at about a nanosecond each; what is kept is itself JSON, apart from its end.
 */

/** The most that is kept: the size of an ordinary head. */
const MAX_KEPT = 64 * 1024;
/** The most that is looked at, so that one odd file costs milliseconds. */
const MAX_SEEN = 64 * 1024 * 1024;
/** Bytes of a string that are kept. An escape may begin up to its six bytes before. */
const KEPT_STRING = 256;
const LAST_ESCAPE = KEPT_STRING - 6;
/** An inner list or object of more kept bytes than this ends at its next comma. */
const KEPT_INNER = 2_048;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export class JsonOutline {
  readonly #kept = Buffer.allocUnsafe(MAX_KEPT);
  #length = 0;
  #seen = 0;
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
    for (let i = 0; i < chunk.length && !this.#isDone; ) {
      if (this.#inString) i = this.#readString(chunk, i);
      else if (this.#leaving > 0) i = this.#leave(chunk, i);
      else i = this.#readOther(chunk, i);
      if (this.#length === MAX_KEPT) this.#isDone = true;
    }
    this.#seen += chunk.length;
    this.#isDone ||= this.#seen >= MAX_SEEN;
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
    if (i === chunk.length) return i;
    this.#stringLength = KEPT_STRING;
    if (this.#isEscaped) i++;
    const end = stringEnd(chunk, i);
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
    for (; i < chunk.length; i++) {
      const byte = chunk[i] as number;
      if (byte === QUOTE) {
        this.#inString = true;
        i++;
        break;
      }
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth === this.#leaving) {
          this.#leaving = 0;
          break;
        }
        depth--;
      }
    }
    this.#depth = depth;
    return i;
  }

  /** Reads one byte outside of strings; gives the next position. */
  #readOther(chunk: Uint8Array, i: number): number {
    const byte = chunk[i] as number;
    switch (byte) {
      case NEWLINE:
        // Inside of a document a line break is white space.
        this.#isDone = this.#depth === 0 && this.#seen + i >= this.#atLeast;
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

function isStringEnd(byte: number): boolean {
  return byte === QUOTE || byte === NEWLINE;
}

/** Where a string ends, at its quote or at a line break; beyond the chunk if it does not. */
function stringEnd(chunk: Uint8Array, from: number): number {
  let i = from;
  while (i < chunk.length) {
    // Where escapes are dense, looking at each byte is faster than a native search.
    for (const near = i + NEAR; i < near && i < chunk.length; i++) {
      const byte = chunk[i] as number;
      if (byte === QUOTE || byte === NEWLINE) return i;
      if (byte === BACKSLASH) i++;
    }
    if (i >= chunk.length) break;
    const quote = chunk.indexOf(QUOTE, i);
    const end = quote < 0 ? chunk.length : quote;
    const line = chunk.subarray(i, end).indexOf(NEWLINE);
    if (line >= 0) return i + line;
    if (!endsEscaped(chunk, i, end)) return end;
    i = end + 1;
  }
  return i;
}

const NEAR = 64;

/** Whether an odd number of backslashes stands before `end`. */
function endsEscaped(chunk: Uint8Array, start: number, end: number): boolean {
  let at = end;
  while (at > start && chunk[at - 1] === BACKSLASH) at--;
  return (end - at) % 2 === 1;
}

/** Whether bytes begin with an object or a list. */
export function beginsLikeJson(head: Uint8Array): boolean {
  const first = head.find((byte) => !BEFORE_JSON.includes(byte));
  return first === OPEN_OBJECT || first === OPEN_LIST;
}

/** White space and the bytes of a byte order mark. */
const BEFORE_JSON: readonly number[] = [0x20, 0x09, 0x0d, NEWLINE, 0xef, 0xbb, 0xbf];
