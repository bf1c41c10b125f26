/**
 * Lines over 1 MB.
 *
 * Nearly all of such a line is one value: a file that a tool has read, an image. Leaving the line out
 * would lose a turn of the conversation and break the chain of its parents, so by default only the
 * long values are cut, and say so; numbers, ids and everything else stay to the letter.
 */

import { type Batched, mapBatches } from "../batches.ts";
import { endOfString } from "../json-scan.ts";
import type { Line } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";

export const OVERSIZE = ["cut", "skip"] as const;
/** `skip` leaves such lines out whole. */
export type Oversize = (typeof OVERSIZE)[number];

/** In characters: a line of the size that the first indexers of such files set as their limit. */
export const MAX_LINE_LENGTH: number = 1024 * 1024;

/** How much of each value is kept, in tries: the first that makes the line short enough. */
const KEPT_LENGTHS = [256 * 1024, 64 * 1024, 16 * 1024, 4 * 1024, 1024] as const;

/** Passes lines on. What is too long is cut or left out, and counted either way. */
export function limitLines(
  lines: AsyncIterable<Line>,
  oversize: Oversize,
  problems: ProblemLog,
): Batched<Line> {
  return mapBatches(lines, function* (batch) {
    for (const line of batch) {
      if (line.text.length <= MAX_LINE_LENGTH) {
        yield line;
      } else if (oversize === "skip") {
        problems.add("line_too_long", "the line is longer than 1 MB and was left out", line.number);
      } else {
        problems.add("line_cut", "the line is longer than 1 MB; long values were cut", line.number);
        yield { ...line, text: cutLine(line.text) };
      }
    }
  });
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
 * Cuts the string literals of a JSON text that are longer than `length`, between two characters. Half
 * an image is none, so a value that looks encoded goes whole. Works on what is no JSON as well.
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
      const verb = stop === quote + 1 ? "left out" : "cut";
      parts.push(text.slice(kept, stop), `[${verb}: ${end - stop} characters]`);
      kept = end;
    }
    quote = text.indexOf('"', end + 1);
  }
  return kept === 0 ? text : parts.join("") + text.slice(kept);
}

/** Base64 and the like: a long run without a space, a sign or an escape. */
function isEncoded(text: string, start: number): boolean {
  return /^(?:data:[\w/+.;=-]{1,100},)?[A-Za-z0-9+/_=-]{1000}/.test(
    text.slice(start, start + 1200),
  );
}

/** The last place up to `length` characters on that is inside no escape and no surrogate pair. */
function boundary(text: string, start: number, length: number): number {
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
  // A backslash run may have begun before what was looked at.
  let slashes = 0;
  while (text.charCodeAt(stop - 1 - slashes) === 0x5c) slashes++;
  return slashes % 2 === 1 ? stop - 1 : stop;
}
