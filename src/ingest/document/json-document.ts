/**
 * A document of one JSON value with a long list in it: the messages of a conversation.
 *
 * Parsed whole, it takes ten times its size. So a long one is read twice. The first pass gives the
 * document without its list, which shows that it is complete, and fields after the list that are
 * needed before it; the second gives the elements, each parsed alone. A short one is parsed whole;
 * an input that can be read only once is held as text, up to 64 MiB.
 */

import { isAscii } from "node:buffer";
import { isPlainObject } from "../../model/json.ts";
import { asBuffer } from "../../transcript/hash.ts";
import { joinLines, NO_DOCUMENT, parseJson } from "../json-file.ts";
import { CUT_LINE_BYTES, decodeUtf8 } from "../lines.ts";
import { CutLine, cutRecord } from "../long/long-line.ts";
import type { ProblemLog } from "../problems.ts";
import type { SourceInput } from "../source.ts";
import { type Bytes, isLonger, ListScanner, WHOLE_BYTES } from "./list-scanner.ts";

export interface JsonDocument {
  /** The value with an empty list. */
  readonly frame: unknown;
  /**
   * The list's elements, from the first each time. Undefined stands for an element that is not JSON
   * or too long and was reported, so that later ones keep their numbers.
   */
  elements(problems: ProblemLog): AsyncIterable<unknown>;
}

export interface DocumentLimits {
  /** Up to this size it is read whole. */
  readonly wholeBytes: number;
  /** The limit of an element, and of the document without its list. */
  readonly elementBytes: number;
}

/** Long values of a message are cut as they are read, so this bounds the time. */
const LIMITS: DocumentLimits = { wholeBytes: WHOLE_BYTES, elementBytes: 256 * 1024 * 1024 };

/**
 * The list is the document itself if it is an array, else its field `list`; other values of that
 * field stay in the frame. Undefined, with a problem, if it is invalid, truncated or too long.
 */
export async function readDocument(
  input: Pick<SourceInput, "lines" | "bytes" | "isRepeatable">,
  list: string,
  problems: ProblemLog,
  limits: DocumentLimits = LIMITS,
): Promise<JsonDocument | undefined> {
  const { bytes, isRepeatable = false } = input;
  if (bytes !== undefined && isRepeatable && (await isLonger(bytes, limits.wholeBytes))) {
    return readLong(bytes, list, problems, limits.elementBytes);
  }
  const text = await joinLines(input.lines, problems);
  if (text === undefined || text.trim() === "") return undefined;
  // The document is in memory and can be iterated again.
  if (text.length > limits.wholeBytes) {
    return readLong([Buffer.from(text)], list, problems, limits.elementBytes);
  }
  const value = parseJson(text);
  if (value !== undefined) return ofValue(value, list);
  problems.add("not_json", NO_DOCUMENT);
  return undefined;
}

function ofValue(value: unknown, list: string): JsonDocument {
  const own = listOf(value, list);
  if (own === undefined) return withoutList(value);
  const frame = isPlainObject(value) ? { ...value, [list]: [] } : [];
  return { frame, elements: () => all(own) };
}

function listOf(value: unknown, list: string): unknown[] | undefined {
  const own = isPlainObject(value) ? value[list] : value;
  return Array.isArray(own) ? own : undefined;
}

function withoutList(frame: unknown): JsonDocument {
  return { frame, elements: () => all([]) };
}

async function* all(values: readonly unknown[]): AsyncGenerator<unknown> {
  yield* values;
}

async function readLong(
  bytes: Bytes,
  list: string,
  problems: ProblemLog,
  maxBytes: number,
): Promise<JsonDocument | undefined> {
  const { text, isDamaged, isCut, listAt } = await readFrame(bytes, list, maxBytes);
  if (isDamaged) problems.add("not_utf8", NOT_UTF8);
  if (text === undefined) {
    problems.add("line_too_long", "the fields beside the list are too long; the file was left out");
    return undefined;
  }
  if (isCut) problems.add("line_cut", "the fields beside the list are long; long values were cut");
  if (text.trim() === "") return undefined;
  const frame = parseJson(text);
  if (frame === undefined) {
    problems.add("not_json", NO_DOCUMENT);
    return undefined;
  }
  if (listOf(frame, list) === undefined) return withoutList(frame);
  const place: ListPlace = { bytes, list, listAt, maxBytes, isDamageTold: isDamaged };
  return { frame, elements: (log) => readElements(place, log) };
}

interface Frame extends Text {
  /** The list's start in bytes; the last one, if the field repeats. */
  readonly listAt: number;
}

/** An unterminated list leaves a bracket open, and a malformed one a wrong bracket. */
async function readFrame(bytes: Bytes, list: string, maxBytes: number): Promise<Frame> {
  const scanner = new ListScanner(list);
  const pieces = new Pieces(maxBytes);
  let listAt = -1;
  let isInList = false;
  let offset = 0;
  for await (const chunk of bytes) {
    const buffer = asBuffer(chunk);
    let from = 0;
    for (const { kind, at } of scanner.marks(buffer.toString("latin1"))) {
      if (kind === "begin") {
        pieces.add(buffer.subarray(from, at + 1));
        listAt = offset + at;
        isInList = true;
      } else if (kind === "end") {
        from = at;
        isInList = false;
      }
    }
    if (!isInList) pieces.add(buffer.subarray(from));
    offset += chunk.length;
  }
  const { text, ...rest } = pieces.take();
  return { ...rest, text: text?.replace(/^\uFEFF/, ""), listAt };
}

interface ListPlace {
  readonly bytes: Bytes;
  readonly list: string;
  readonly listAt: number;
  readonly maxBytes: number;
  readonly isDamageTold: boolean;
}

async function* readElements(place: ListPlace, problems: ProblemLog): AsyncGenerator<unknown> {
  const scanner = new ListScanner(place.list);
  const pieces = new Pieces(place.maxBytes);
  let isDamageTold = place.isDamageTold;
  let isInList = false;
  let number = 0;
  let offset = 0;
  for await (const chunk of place.bytes) {
    const buffer = asBuffer(chunk);
    let from = 0;
    for (const { kind, at } of scanner.marks(buffer.toString("latin1"))) {
      if (kind === "begin") {
        isInList = offset + at === place.listAt;
        from = at + 1;
      }
      if (kind === "begin" || !isInList) continue;
      const { text, isDamaged, isCut } = pieces.take(buffer.subarray(from, at));
      from = at + 1;
      const isLast = kind === "end";
      if (isLast && number === 0 && text?.trim() === "") return;
      if (isDamaged && !isDamageTold) {
        isDamageTold = true;
        problems.add("not_utf8", NOT_UTF8);
      }
      number++;
      if (isCut && text !== undefined) {
        problems.add("line_cut", `element ${number} is longer than 1 MB; long values were cut`);
      }
      yield parseElement(text, number, problems);
      if (isLast) return;
    }
    if (isInList) pieces.add(buffer.subarray(from));
    offset += chunk.length;
  }
  // It was complete in the first pass.
  problems.add("unreadable", "the file changed while it was read");
}

function parseElement(text: string | undefined, number: number, problems: ProblemLog): unknown {
  if (text === undefined) {
    problems.add("line_too_long", `element ${number} is too long, and was left out`);
    return undefined;
  }
  const value = parseJson(cutRecord(text, `element ${number}`, problems));
  if (value === undefined) {
    problems.add(
      "not_json",
      `element ${number} is not JSON, nests too deeply or holds too many values; it was left out`,
    );
  }
  return value;
}

const NOT_UTF8 = "some bytes are not UTF-8 and were replaced";

/** Collects a text from several chunks, decoded at its end. */
interface Text {
  /** Undefined if it was too long. */
  readonly text: string | undefined;
  readonly isDamaged: boolean;
  /** Its long values were cut on arrival. */
  readonly isCut: boolean;
}

/** The part of a text that continues in the next chunk; empty for one that is too long. */
class Pieces {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #long: CutLine | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) this.#parts = [];
    else if (this.#length > CUT_LINE_BYTES) this.#addLong(part);
    // Copy: the file reader reuses its buffer.
    else this.#parts.push(Buffer.from(part));
  }

  /** Takes the last part without copying it. */
  take(last: Buffer = Buffer.alloc(0)): Text {
    const isTooLong = this.#length + last.length > this.#maxBytes;
    const long = this.#long;
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#length = 0;
    this.#long = undefined;
    if (isTooLong) return { text: undefined, isDamaged: false, isCut: false };
    if (long === undefined) return decode(whole);
    long.add(last);
    const { text, damage } = long.end();
    const isLost = damage === "too_long";
    return { text: isLost ? undefined : text, isDamaged: damage === "not_utf8", isCut: long.isCut };
  }

  #addLong(part: Buffer): void {
    this.#long ??= new CutLine();
    for (const before of this.#parts.splice(0)) this.#long.add(before);
    this.#long.add(part);
  }
}

function decode(bytes: Buffer): Text {
  if (isAscii(bytes)) return { text: bytes.toString("latin1"), isDamaged: false, isCut: false };
  const { text, damage } = decodeUtf8(bytes);
  return { text, isDamaged: damage !== undefined, isCut: false };
}
