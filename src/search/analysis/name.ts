/** Names and paths: splits identifiers, file names, addresses, versions and hashes. */

import {
  APOSTROPHE,
  ASCII_CLASSES,
  DIGIT,
  JOINER,
  LOWER,
  SEPARATOR,
  SLASH,
  UPPER,
} from "./character.ts";
import { dateAt } from "./date.ts";

/**
 * The term limit in code units, for text and query alike: longer words are cut, longer wholes are
 * left out.
 */
export const MAX_TERM_LENGTH = 64;

/** A run of name characters longer than this is data (Base64, a signature): one term, cut. */
const MAX_RUN_LENGTH = 256;

/** The length that tools shorten a commit hash to. */
export const SHORT_HASH_LENGTH = 7;

export interface Name {
  /** Start and end of each part, alternating. */
  readonly parts: readonly number[];
  /** For each segment: the index of its first part, its start and its end. */
  readonly segments: readonly number[];
  readonly end: number;
}

/** Reads the name or path that begins with the letter or digit at `from`. */
export function readName(text: string, classes: Uint8Array, from: number): Name {
  const data = endOfData(text, classes, from);
  if (data > from) return { parts: [from, data], segments: [0, from, data], end: data };

  const parts: number[] = [];
  const segments: number[] = [];
  let segmentStart = from;
  let segmentPart = 0;
  let at = from;
  for (;;) {
    let end = at + 1;
    while (isWordClass(classes[end])) end++;
    splitWord(text, classes, at, end, parts);
    const next = afterJoiner(text, classes, end);
    if (next < 0 || classes[end] === SLASH) {
      segments.push(segmentPart, segmentStart, end);
      segmentStart = next;
      segmentPart = parts.length / 2;
    }
    if (next < 0) return { parts, segments, end };
    at = next;
  }
}

/** The start of the word after a joiner at `end`, or -1 if the name ends. */
export function afterJoiner(text: string, classes: Uint8Array, end: number): number {
  const joiner = classes[end];
  if (joiner !== JOINER && joiner !== SLASH) return -1;
  let next = end + 1;
  const sign = text[end];
  // `foo__bar`, and `C:\\x` as in JSON.
  if (sign === "_" || sign === "\\") while (text[next] === sign) next++;
  if (!isWordClass(classes[next])) return -1;
  return classes[next] === DIGIT && dateAt(text, classes, next) !== undefined ? -1 : next;
}

/** The term of a whole name: its words without joiners, except between two digits. */
export function joinName(text: string, classes: Uint8Array, from: number, end: number): string {
  let joined = "";
  let start = from;
  for (let i = from + 1; i < end; i++) {
    const kind = classes[i];
    if (kind !== JOINER && kind !== SLASH) continue;
    if (classes[i - 1] === DIGIT && classes[i + 1] === DIGIT && text[i] !== "_") continue;
    joined += text.slice(start, i);
    start = i + 1;
  }
  return joined + text.slice(start, end);
}

/** Whether a name begins as versions do: `v22.18`. */
export function isVersion(text: string, classes: Uint8Array, from: number): boolean {
  return text[from] === "v" && classes[from + 1] === DIGIT;
}

/** Hexadecimal, of letters and digits, at least as long as a short commit hash. */
export function isHash(text: string, from: number, end: number): boolean {
  if (end - from < SHORT_HASH_LENGTH) return false;
  let letters = 0;
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x61 && code <= 0x66) letters++;
    else if (code < 0x30 || code > 0x39) return false;
  }
  return letters > 0 && letters < end - from;
}

/** At most 64 code units of `term`, without splitting a surrogate pair. */
export function cutTerm(term: string): string {
  if (term.length <= MAX_TERM_LENGTH) return term;
  const last = term.charCodeAt(MAX_TERM_LENGTH - 1);
  const split = last >= 0xd800 && last <= 0xdbff;
  return term.slice(0, split ? MAX_TERM_LENGTH - 1 : MAX_TERM_LENGTH);
}

function isWordClass(kind: number | undefined): boolean {
  return kind === LOWER || kind === UPPER || kind === DIGIT;
}

/** Adds the parts of one run of letters and digits: `HTTPServer` is two, `TS2345` too. */
function splitWord(
  text: string,
  classes: Uint8Array,
  from: number,
  end: number,
  parts: number[],
): void {
  const before = parts.length;
  if (end - from <= MAX_TERM_LENGTH && !isHash(text, from, end)) {
    let start = from;
    for (let i = from + 1; i < end; i++) {
      if (!isBoundary(text, classes, from, i, end)) continue;
      parts.push(start, i);
      start = i;
    }
    parts.push(start, end);
    // A long run of parts under four letters is not a name: `aGVsbG8gd29ybGQh` is encoded data.
    const count = (parts.length - before) / 2;
    if (end - from < 16 || count * 4 <= end - from) return;
    parts.length = before;
  }
  parts.push(from, end);
}

function isBoundary(
  text: string,
  classes: Uint8Array,
  from: number,
  i: number,
  end: number,
): boolean {
  const kind = classes[i];
  const previous = classes[i - 1];
  if (kind === UPPER) {
    if (previous === LOWER) return true;
    const next = i + 1 < end ? classes[i + 1] : undefined;
    if (next !== LOWER) return false;
    // `HTTPServer`, `utf8Decode`; but the `s` of `URLs` is a plural.
    return !(previous === UPPER && i + 2 === end && text[i + 1] === "s");
  }
  // `TS2345`, `utf8`: at least two letters, then digits.
  if (kind !== DIGIT || previous === DIGIT || i < from + 2 || classes[i - 2] === DIGIT)
    return false;
  const after = digitsEnd(classes, i, end);
  return after === end || classes[after] === UPPER;
}

function digitsEnd(classes: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && classes[i] === DIGIT) i++;
  return i;
}

/** The end of a run that is too long to be a name, or `from`. `+` and `=` occur in Base64. */
function endOfData(text: string, classes: Uint8Array, from: number): number {
  let i = from;
  while (i < classes.length) {
    const kind = classes[i];
    if (!isWordClass(kind) && kind !== JOINER && kind !== SLASH) {
      const sign = text[i];
      if (sign !== "+" && sign !== "=") break;
    }
    i++;
  }
  return i - from > MAX_RUN_LENGTH ? i : from;
}

/**
 * False: no run of `text` is data. Runs of other characters than names have may count, too. Such a run
 * holds a character at a multiple of its least length: the others are not read.
 */
export function mayHaveData(text: string): boolean {
  for (let i = MAX_RUN_LENGTH; i < text.length; i += MAX_RUN_LENGTH + 1) {
    if (!isInData(text, i)) continue;
    let start = i;
    while (start > 0 && isInData(text, start - 1)) start--;
    let end = i + 1;
    while (end < text.length && end - start <= MAX_RUN_LENGTH && isInData(text, end)) end++;
    if (end - start > MAX_RUN_LENGTH) return true;
  }
  return false;
}

function isInData(text: string, at: number): boolean {
  const kind = ASCII_CLASSES[text.charCodeAt(at)];
  return kind !== APOSTROPHE && (kind !== SEPARATOR || text[at] === "+" || text[at] === "=");
}

/** Whether a name or a part of one is trivial by itself: the `1` of `worker1`. */
export function isTrivialName(name: string): boolean {
  return /^(?:\d{1,2}|.)$/u.test(name);
}
