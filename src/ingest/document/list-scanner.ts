/**
 * A streaming structural scanner: finds the byte ranges of the elements of a JSON document's long
 * list.
 *
 * A conversation in one document can exceed memory, and nearly all of it is one list. The scanner
 * tracks only strings and brackets, so it is cheap. The parser validates the elements.
 */

import { isPlainObject } from "../../model/json.ts";
import { type Batched, batched, splitAhead } from "../batches.ts";
import { parseJson } from "../json-file.ts";
import { endOfString, slashesBefore } from "../json-scan.ts";
import { type Line, splitLines } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";
import type { SourceInput } from "../source.ts";

/** The limit of values parsed as a whole: an element of an export, a companion file. */
const MAX_ELEMENT_BYTES = 8 * 1024 * 1024;

/**
 * `begin` is the list's opening bracket, `next` a comma between elements, `end` its closing
 * bracket.
 */
interface ListMark {
  readonly kind: "begin" | "next" | "end";
  readonly at: number;
}

/**
 * The list is the document itself if it is an array, else its top-level field of the given name.
 */
export class ListScanner {
  readonly #field: string | undefined;
  #depth = 0;
  /** The depth of the list's elements while inside the list; else 0. */
  #listDepth = 0;
  #isString = false;
  /** Whether the last chunk ended with a backslash that escapes the next character. */
  #isEscaped = false;
  /** Whether the string is at the top level: the last before a colon is a field's name. */
  #isName = false;
  #name = "";
  /** Whether the value of the field follows. */
  #isWanted = false;

  /** Without a field, lists are only documents themselves. */
  constructor(field?: string) {
    this.#field = field;
  }

  /**
   * The marks of the next chunk: of text, or of bytes as latin1, because it matches ASCII, which is
   * part of no other character in UTF-8. A repeated name gives two lists.
   */
  *marks(text: string): Generator<ListMark> {
    let at = this.#isString && text !== "" ? this.#resumeString(text) : 0;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#isName = this.#depth === 1 && this.#listDepth === 0 && this.#field !== undefined;
        if (this.#isName) this.#name = "";
        at = this.#passString(text, at + 1, at + 1);
        continue;
      }
      const kind = code === COMMA || code === COLON ? this.#separate(code) : this.#nest(code);
      if (kind !== undefined) yield { kind, at };
      at++;
    }
  }

  #resumeString(text: string): number {
    const from = this.#isEscaped ? 1 : 0;
    this.#isEscaped = false;
    return this.#passString(text, 0, from);
  }

  /** The end of the string that began before `start`, searched from `from`. */
  #passString(text: string, start: number, from: number): number {
    const end = endOfString(text, from);
    this.#isString = end < 0;
    // A longer one is another name, however it is escaped.
    if (this.#isName && this.#name.length <= LONGEST_ESCAPE * (this.#field ?? "").length) {
      this.#name += text.slice(start, end < 0 ? text.length : end);
    }
    if (end >= 0) return end + 1;
    this.#isEscaped = slashesBefore(text, text.length, from) % 2 === 1;
    return text.length;
  }

  #separate(code: number): ListMark["kind"] | undefined {
    if (this.#listDepth > 0) {
      return code === COMMA && this.#depth === this.#listDepth ? "next" : undefined;
    }
    if (this.#depth === 1)
      this.#isWanted =
        code === COLON && this.#field !== undefined && isNamed(this.#name, this.#field);
    return undefined;
  }

  #nest(code: number): ListMark["kind"] | undefined {
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      const isField = this.#depth === 1 && this.#isWanted;
      const isList = code === OPEN_LIST && (this.#depth === 0 || isField);
      this.#depth++;
      if (!isList) return undefined;
      this.#listDepth = this.#depth;
      return "begin";
    }
    if (code !== CLOSE_LIST && code !== CLOSE_OBJECT) return undefined;
    const isEnd = this.#depth-- === this.#listDepth && this.#listDepth > 0;
    if (!isEnd) return undefined;
    this.#listDepth = 0;
    return "end";
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The longest escape: a backslash, `u` and four digits. */
const LONGEST_ESCAPE = 6;

/** Whether the raw name equals `field`. */
function isNamed(text: string, field: string): boolean {
  if (!text.includes("\\")) return text === field;
  try {
    return JSON.parse(`"${text}"`) === field;
  } catch {
    // Not JSON: the parser reports it.
    return false;
  }
}

// Looks ahead to tell a JSON document from JSON lines.
//
// A document is often a single line, which would have to be read whole. A file can be read again,
// so the look-ahead is limited to the size that is parsed whole anyway.

/** Nearly all documents are shorter, and faster to parse at once than in pieces. */
export const WHOLE_BYTES: number = 1024 * 1024;

interface Ahead {
  readonly lines: readonly Line[];
  /** Whether the first megabyte of a longer file did not decide. */
  readonly isCut: boolean;
  /** To be read instead of the original input. */
  readonly input: SourceInput;
}

/**
 * The first lines, up to a sufficient one. Of a file one megabyte is read, and the last line may be
 * partial: a document is often a single one.
 */
export async function lookAhead(
  input: SourceInput,
  isEnough: (read: readonly Line[]) => boolean,
): Promise<Ahead> {
  const { bytes, isRepeatable = false } = input;
  if (bytes === undefined || !isRepeatable) {
    const { ahead, rest } = await splitAhead(input.lines, isEnough);
    return { lines: ahead, isCut: false, input: { ...input, lines: chain(ahead, rest) } };
  }
  const lines: Line[] = [];
  for await (const line of splitLines(beginningOf(bytes, WHOLE_BYTES))) {
    lines.push(line);
    if (isEnough(lines)) return { lines, isCut: false, input };
  }
  return { lines, isCut: await isLonger(bytes, WHOLE_BYTES), input };
}

function chain(ahead: readonly Line[], rest: AsyncIterable<Iterable<Line>>): Batched<Line> {
  async function* all(): AsyncGenerator<Iterable<Line>> {
    yield ahead;
    yield* rest;
  }
  return batched(all());
}

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads only as far as needed. */
export async function isLonger(bytes: Bytes, length: number): Promise<boolean> {
  let left = length;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) return true;
  }
  return false;
}

async function* beginningOf(bytes: Bytes, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of bytes) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

// The elements of a JSON array, one at a time, from a file of any size.
//
// Exports of chats are one array of hundreds of megabytes, often in a single line. Each
// element is parsed alone.

/**
 * Gives the objects. A damaged one is reported; `begins` matches an object's start, to
 * resynchronise after it. A file of one object is its only element.
 */
export async function* readElements(
  input: SourceInput,
  begins: RegExp,
  problems: ProblemLog,
): AsyncGenerator<Record<string, unknown>> {
  for await (const text of splitElements(textOf(input, problems), problems)) {
    // A separate list and call: the text must not be referenced while a value is processed.
    const values = parseElement(text, begins, problems);
    while (values.length > 0) yield values.shift() as Record<string, unknown>;
  }
}

function parseElement(
  text: string,
  begins: RegExp,
  problems: ProblemLog,
): Record<string, unknown>[] {
  const value = parseJson(text);
  if (isPlainObject(value)) return [value];
  if (value === undefined) return [...recover(text, begins, problems)];
  problems.add("unexpected", "an element is JSON, but not an object");
  return [];
}

const NO_ELEMENT =
  "an element is not JSON, nests too deeply or holds too many values; was the file cut off?";

/** The whole elements of a damaged piece. */
function* recover(
  text: string,
  begins: RegExp,
  problems: ProblemLog,
): Generator<Record<string, unknown>> {
  problems.add("not_json", NO_ELEMENT);
  const starts = [...text.matchAll(new RegExp(begins, "g"))].map(({ index }) => index);
  for (const [i, start] of starts.entries()) {
    const end = text.slice(start, starts[i + 1]).replace(/(?<![\s,\]])[\s,\]]+$/, "");
    const value = end.length === text.length ? undefined : parseJson(end);
    if (isPlainObject(value)) yield value;
  }
}

/** Such a file may be one line above the line limit, so the bytes are used if available. */
async function* textOf(input: SourceInput, problems: ProblemLog): AsyncGenerator<string> {
  if (input.bytes !== undefined) {
    yield* decode(input.bytes, problems);
    return;
  }
  for await (const { text, damage, number } of input.lines) {
    if (damage === "too_long") {
      problems.add("line_too_long", "the line is too long and was left out", number);
    }
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
    }
    yield `${text}\n`;
  }
}

const REPLACEMENT = "\uFFFD";

async function* decode(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  problems: ProblemLog,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  let isTold = false;
  /** A file may contain the replacement character itself. */
  const tell = (text: string, chunk: Uint8Array) => {
    if (isTold || !text.includes(REPLACEMENT) || Buffer.from(chunk).includes(REPLACEMENT)) return;
    isTold = true;
    problems.add("not_utf8", "some bytes are not UTF-8 and were replaced");
  };
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    tell(text, chunk);
    yield text;
  }
  const rest = decoder.decode();
  tell(rest, new Uint8Array());
  yield rest;
}

/** The text of each element, bounded to an element's limit in characters. */
export async function* splitElements(
  chunks: AsyncIterable<string>,
  problems: ProblemLog,
  maxLength: number = MAX_ELEMENT_BYTES,
): AsyncGenerator<string> {
  // One array may follow another.
  const scanner = new ListScanner();
  let parts: string[] = [];
  let length = 0;
  const keep = (part: string) => {
    length += part.length;
    if (length <= maxLength) parts.push(part);
    else parts = [];
  };
  const take = (): string => {
    // With the byte order mark.
    const text = parts.join("").trim();
    if (length > maxLength) {
      const size = `${Math.floor(maxLength / 1024 / 1024)} MiB`;
      problems.add("line_too_long", `an element is longer than ${size} and was left out`);
    }
    parts = [];
    length = 0;
    return text;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (const { at } of scanner.marks(chunk)) {
      keep(chunk.slice(start, at));
      start = at + 1;
      const text = take();
      if (text !== "") yield text;
    }
    keep(chunk.slice(start));
  }
  const rest = take();
  if (rest !== "") yield rest;
}
