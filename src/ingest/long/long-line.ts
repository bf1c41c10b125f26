/**
 * Reads a line of any length, holding only the kept part in memory.
 *
 * A line of 60 MB would otherwise be in memory several times before its values are cut: as chunks,
 * joined, and as text. So overlong values are cut as they arrive. The undecoded rest is small:
 * bytes since the last complete value, and the head of the current one.
 */

import { isAscii } from "node:buffer";
import { endOfString } from "../json-scan.ts";
import { decodeUtf8, type Line, type LongLine } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";

/** In characters: the line limit of the first indexers of such files. */
export const MAX_LINE_LENGTH: number = 1024 * 1024;

/** Kept lengths of each value, in order of trial: the first that makes the line short enough. */
const KEPT_LENGTHS: readonly number[] = [256 * 1024, 64 * 1024, 16 * 1024, 4 * 1024, 1024];

/**
 * For values that are all short. As objects it would take twenty times as much, and it is no
 * message.
 */
const MAX_KEPT_LENGTH: number = 4 * 1024 * 1024;

/** Bytes buffered before decoding: more than the head of a value may have. */
const SETTLED_BYTES = 1024 * 1024;

/** The most UTF-8 bytes per UTF-16 unit. */
const CHARACTER_BYTES = 3;

export interface CutLimits {
  /** Kept lengths of each value, in order of trial, until the whole is no longer than `length`. */
  readonly kept: readonly number[];
  readonly length: number;
  /** Lines that stay longer are dropped. */
  readonly maxLength: number;
}

const LINE: CutLimits = { kept: KEPT_LENGTHS, length: MAX_LINE_LENGTH, maxLength: MAX_KEPT_LENGTH };

/** A record of many messages: none of them is cut because of the others. */
export const CONVERSATION: CutLimits = {
  kept: KEPT_LENGTHS.slice(0, 1),
  length: 0,
  maxLength: 16 * 1024 * 1024,
};

/** Kept beyond the cut, so that no escape at its end is split: it may have twelve characters. */
const SLACK = 16;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A long line of a file whose lines are JSON. */
export class CutLine implements LongLine {
  readonly #limits: CutLimits;
  /** Whether anything was cut. */
  isCut = false;
  /** Complete values, cut as far as needed so far. */
  #text = "";
  /** The index of the current kept length, which decreases. */
  #level = 0;
  #recent: Buffer = Buffer.allocUnsafe(SETTLED_BYTES);
  #recentLength = 0;
  /** The start of the current value in `#recent`; -1 outside of values. */
  #value = -1;
  /** Whether the current value ends with an unpaired backslash. */
  #isEscaped = false;
  /** Removed characters of the current value; undefined if it is complete. */
  #lost: number | undefined;
  #damage: Line["damage"];

  constructor(limits: CutLimits = LINE) {
    this.#limits = limits;
  }

  add(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.#damage !== "too_long") {
      at = this.#value < 0 ? this.#outside(bytes, at) : this.#inside(bytes, at);
      if (this.#recentLength < SETTLED_BYTES) continue;
      this.#settle(endOfWhole(this.#recent.subarray(0, this.#recentLength)));
    }
  }

  end(): ReturnType<LongLine["end"]> {
    if (this.#value >= 0) this.#endValue();
    this.#value = -1;
    if (this.#damage !== "too_long") this.#settle(this.#recentLength);
    return withDamage(this.#text, this.#damage);
  }

  /** Up to the next value. */
  #outside(bytes: Buffer, from: number): number {
    const quote = bytes.indexOf(QUOTE, from);
    const end = quote < 0 ? bytes.length : quote + 1;
    this.#keep(bytes, from, end);
    if (quote >= 0) this.#value = this.#recentLength;
    return end;
  }

  /** To the end of the value, or of the chunk. */
  #inside(bytes: Buffer, from: number): number {
    const quote = this.#endOfValue(bytes, from);
    const end = quote < 0 ? bytes.length : quote;
    const most = CHARACTER_BYTES * this.#kept + SLACK;
    const room = Math.max(0, most - (this.#recentLength - this.#value));
    const keep = this.#lost === undefined ? Math.min(end - from, room) : 0;
    this.#keep(bytes, from, from + keep);
    if (from + keep < end) this.#lost = (this.#lost ?? 0) + charactersIn(bytes, from + keep, end);
    if (quote < 0) return end;
    this.#endValue();
    this.#value = -1;
    this.#keep(bytes, quote, quote + 1);
    return quote + 1;
  }

  /** The index of the current value's closing quote; -1 if absent. */
  #endOfValue(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; ) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        at++;
        continue;
      }
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 ? bytes.length : quote;
      let slashes = 0;
      while (end - slashes > at && bytes[end - slashes - 1] === BACKSLASH) slashes++;
      this.#isEscaped = slashes % 2 === 1;
      if (!this.#isEscaped) return quote;
      at = end;
    }
    return -1;
  }

  /** Cuts the current value at a boundary, with a mark, if part of it was removed. */
  #endValue(): void {
    if (this.#lost === undefined) return;
    const value = this.#recent.subarray(this.#value, this.#recentLength);
    const { text, damage } = decodeUtf8(value.subarray(0, endOfWhole(value)));
    this.#damage ??= damage;
    const most = Math.min(this.#kept, text.length - SLACK);
    const length = isEncoded(text, 0) ? 0 : boundary(text, 0, most);
    const kept = Buffer.from(text.slice(0, length));
    const gone = this.#lost + charactersIn(value, kept.length, value.length);
    this.#lost = undefined;
    this.isCut = true;
    this.#recentLength = this.#value;
    const cut = Buffer.concat([kept, Buffer.from(cutMark(length > 0, gone))]);
    this.#keep(cut, 0, cut.length);
  }

  get #isLastLevel(): boolean {
    return this.#level === this.#limits.kept.length - 1;
  }

  get #kept(): number {
    return this.#limits.kept[this.#level] as number;
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const length = this.#recentLength + to - from;
    if (length > this.#recent.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#recent.length));
      this.#recent.copy(larger, 0, 0, this.#recentLength);
      this.#recent = larger;
    }
    bytes.copy(this.#recent, this.#recentLength, from, to);
    this.#recentLength = length;
  }

  /** Decodes everything up to `settledEnd` except the current value. */
  #settle(settledEnd: number): void {
    // Include the opening quote: a separately cut part must not begin inside a value.
    const end = this.#value < 0 ? settledEnd : this.#value - 1;
    const { text, damage } = decodeUtf8(this.#recent.subarray(0, end));
    this.#damage ??= damage;
    // At the last level the text cannot be cut further.
    this.#text += this.#isLastLevel ? this.#cut(text) : text;
    this.#recent.copyWithin(0, end, this.#recentLength);
    this.#recentLength -= end;
    if (this.#value >= 0) this.#value = 1;
    this.#shorten();
  }

  #shorten(): void {
    const { length, maxLength } = this.#limits;
    while (this.#text.length > length && !this.#isLastLevel) {
      this.#text = this.#cut(this.#text);
      if (this.#text.length <= length) break;
      this.#level++;
      if (this.#isLastLevel) this.#text = this.#cut(this.#text);
    }
    if (this.#text.length <= maxLength) return;
    this.#damage = "too_long";
    this.#text = "";
  }

  #cut(text: string): string {
    const cut = cutStrings(text, this.#kept);
    this.isCut ||= cut !== text;
    return cut;
  }
}

/** UTF-16 units: characters beyond 16 bits count twice. */
function charactersIn(bytes: Buffer, from: number, to: number): number {
  if (isAscii(bytes.subarray(from, to))) return to - from;
  let count = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1;
  }
  return count;
}

/** The end without an incomplete character. */
function endOfWhole(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The head of a long line of a plain-text file. */
export class CutText implements LongLine {
  readonly #kept: Buffer[] = [];
  #length = 0;
  #lost = 0;

  add(bytes: Buffer): void {
    const keep = Math.min(bytes.length, Math.max(0, MAX_KEPT_LENGTH - this.#length));
    if (keep > 0) this.#kept.push(Buffer.from(bytes.subarray(0, keep)));
    this.#length += keep;
    this.#lost += charactersIn(bytes, keep, bytes.length);
  }

  end(): ReturnType<LongLine["end"]> {
    const bytes = Buffer.concat(this.#kept);
    if (this.#lost === 0) return decodeUtf8(bytes);
    const end = endOfWhole(bytes);
    const { text, damage } = decodeUtf8(bytes.subarray(0, end));
    const lost = this.#lost + charactersIn(bytes, end, bytes.length);
    return withDamage(text + cutMark(true, lost), damage);
  }
}

function withDamage(text: string, damage: Line["damage"]): ReturnType<LongLine["end"]> {
  return damage === undefined ? { text } : { text, damage };
}

// Cuts the long values of JSON text.
//
// Nearly all of a long record is one value: a file that a tool read, an image. It is cut, with a
// mark; numbers, ids and everything else stay unchanged.

/** The text to parse. A cut is reported. */
export function cutRecord(text: string, name: string, problems: ProblemLog): string {
  if (text.length <= MAX_LINE_LENGTH) return text;
  const cut = cutLine(text);
  // It may have been cut and reported on arrival; and one of many short values is unchanged.
  if (cut !== text) problems.add("line_cut", `${name} is longer than 1 MB; long values were cut`);
  return cut;
}

/** A line of many short values keeps its length. */
export function cutLine(text: string): string {
  let cut = text;
  for (const length of KEPT_LENGTHS) {
    cut = cutStrings(text, length);
    if (cut.length <= MAX_LINE_LENGTH) break;
  }
  return cut;
}

/**
 * Cuts the string literals of a JSON text that are longer than `length`, between two characters.
 * Half an image is useless, so a value that looks encoded is dropped as a whole. Also works on
 * malformed JSON.
 */
export function cutStrings(text: string, length: number): string {
  const parts: string[] = [];
  let kept = 0;
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    const end = endOfString(text, quote + 1);
    if (end < 0) break;
    const size = end - quote - 1;
    if (size > length) {
      const stop = isEncoded(text, quote + 1) ? quote + 1 : boundary(text, quote + 1, length);
      parts.push(text.slice(kept, stop), cutMark(stop > quote + 1, lost(text, stop, end)));
      kept = end;
    }
    quote = text.indexOf('"', end + 1);
  }
  return kept === 0 ? text : parts.join("") + text.slice(kept);
}

/** The mark at the end of a value that lacks `characters`. */
function cutMark(isKept: boolean, characters: number): string {
  return `[${isKept ? "cut" : "left out"}: ${characters} characters]`;
}

const MARK = /\[cut: (\d{1,15}) characters\]$/;
const MARK_LENGTH = 40;

/** The removed characters, including those of an earlier cut, as its mark says. */
function lost(text: string, from: number, to: number): number {
  const [mark = "", before = "0"] =
    MARK.exec(text.slice(Math.max(from, to - MARK_LENGTH), to)) ?? [];
  return to - from - mark.length + Number(before);
}

/** Base64 and the like: a long run without a space, a sign or an escape. */
function isEncoded(text: string, start: number): boolean {
  return /^(?:data:[\w/+.;=-]{1,100},)?[A-Za-z0-9+/_=-]{1000}/.test(
    text.slice(start, start + 1200),
  );
}

/** The last boundary up to `length` outside of escapes and surrogate pairs. */
function boundary(text: string, start: number, length: number): number {
  let stop = start + length;
  // An escape has at most twelve characters, as two surrogates.
  const from = Math.max(start, stop - 12);
  const escapes = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|.)/g;
  const near = text.slice(from, stop + 12);
  for (const match of near.matchAll(escapes)) {
    const at = from + match.index;
    if (at < stop && at + match[0].length > stop) stop = at;
  }
  const code = text.charCodeAt(stop - 1);
  if (code >= 0xd800 && code <= 0xdbff) stop--;
  // A run of backslashes may begin before the scanned range.
  let slashes = 0;
  while (text.charCodeAt(stop - 1 - slashes) === 0x5c) slashes++;
  return slashes % 2 === 1 ? stop - 1 : stop;
}
