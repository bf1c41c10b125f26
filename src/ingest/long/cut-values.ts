/**
 * Cuts the long values of JSON text.
 *
 * Nearly all of a long record is one value: a file that a tool read, an image. It is cut, with a
 * mark; numbers, ids and everything else stay unchanged.
 */

import { endOfString } from "../json-scan.ts";
import type { ProblemLog } from "../problems.ts";

/** In characters: the line limit of the first indexers of such files. */
export const MAX_LINE_LENGTH: number = 1024 * 1024;

/** Kept lengths of each value, in order of trial: the first that makes the line short enough. */
export const KEPT_LENGTHS: readonly number[] = [256 * 1024, 64 * 1024, 16 * 1024, 4 * 1024, 1024];

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
export function cutMark(isKept: boolean, characters: number): string {
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
export function isEncoded(text: string, start: number): boolean {
  return /^(?:data:[\w/+.;=-]{1,100},)?[A-Za-z0-9+/_=-]{1000}/.test(
    text.slice(start, start + 1200),
  );
}

/** The last boundary up to `length` outside of escapes and surrogate pairs. */
export function boundary(text: string, start: number, length: number): number {
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
