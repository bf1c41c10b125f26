/**
 * Cutting the long values of JSON text.
 *
 * Nearly all of a long record is one value: a file that a tool has read, an image. It is cut, and says
 * so; numbers, ids and everything else stay to the letter.
 */

import { endOfString } from "../json-scan.ts";
import type { ProblemLog } from "../problems.ts";

/** In characters: a line of the size that the first indexers of such files set as their limit. */
export const MAX_LINE_LENGTH: number = 1024 * 1024;

/** How much of each value is kept, in tries: the first that makes the line short enough. */
export const KEPT_LENGTHS: readonly number[] = [256 * 1024, 64 * 1024, 16 * 1024, 4 * 1024, 1024];

/** The text of a record as it is to be parsed. If it is cut, that is told. */
export function cutRecord(text: string, name: string, problems: ProblemLog): string {
  if (text.length <= MAX_LINE_LENGTH) return text;
  const cut = cutLine(text);
  // It may have been cut, and told of, as it was read; and one of many short values stays as it is.
  if (cut !== text) problems.add("line_cut", `${name} is longer than 1 MB; long values were cut`);
  return cut;
}

/** A line that consists of many short values stays as long as it is. */
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

/** The characters between: also those that were cut off before, as the value's end says. */
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

/** The last place up to `length` characters on that is inside no escape and no surrogate pair. */
export function boundary(text: string, start: number, length: number): number {
  let stop = start + length;
  // An escape has at most twelve characters, as two halves of a pair.
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
