/** A bounded excerpt of a text around its matches. */

import { betweenWords, focusOf, wholeWords } from "../../model/display.ts";
import type { MatchRange } from "../analysis/find-matches.ts";

export const MAX_SNIPPET_BYTES = 1_024;

export interface Snippet {
  readonly text: string;
  readonly truncated: boolean;
  /** The ranges of the matches inside `text`. */
  readonly matches: readonly MatchRange[];
}

/** At most `maxBytes` of UTF-8, cut between words, around the longest run or most matches. */
export function cutSnippet(
  text: string,
  matches: readonly MatchRange[],
  maxBytes: number = MAX_SNIPPET_BYTES,
): Snippet {
  if (fits(text, maxBytes)) return { text, truncated: false, matches };
  const found = focusOf(text, matches, maxBytes / 2);
  const words = wholeWords(text, found);
  const focus = fits(text.slice(words.start, words.end), maxBytes) ? words : found;
  const { start, end } = betweenWords(text, widen(text, focus, maxBytes), focus);
  const inside = matches.filter((match) => match.start >= start && match.end <= end);
  // A run may be longer than the snippet.
  const shown = inside.length > 0 ? inside : matches.filter((match) => match.start === start);
  return {
    text: text.slice(start, end),
    truncated: end - start < text.length,
    matches: shown.map((match) => ({
      start: match.start - start,
      end: Math.min(match.end, end) - start,
    })),
  };
}

/** Grows a range to both sides by whole code points while there is room. */
function widen(text: string, range: MatchRange, maxBytes: number): MatchRange {
  let start = codePointStart(text, range.start);
  let end = start;
  let room = maxBytes;
  while (end < text.length && end < range.end) {
    const size = bytesAt(text, end);
    if (size > room) return { start, end };
    room -= size;
    end = after(text, end);
  }
  for (;;) {
    const left = start > 0 ? before(text, start) : start;
    const leftSize = start > 0 ? bytesAt(text, left) : 0;
    const rightSize = end < text.length ? bytesAt(text, end) : 0;
    if (leftSize === 0 && rightSize === 0) return { start, end };
    if (leftSize > 0 && leftSize <= room) {
      start = left;
      room -= leftSize;
    }
    if (rightSize > 0 && rightSize <= room) {
      end = after(text, end);
      room -= rightSize;
    }
    if (room < Math.max(leftSize, rightSize, 1)) return { start, end };
  }
}

const encoder = new TextEncoder();
const room = new Uint8Array(MAX_SNIPPET_BYTES);

/** `maxBytes` is at most the size of a snippet. */
function fits(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return true;
  if (text.length > maxBytes) return false;
  return encoder.encodeInto(text, room.subarray(0, maxBytes)).read === text.length;
}

function bytesAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return isPair(text, at) ? 4 : 3;
}

function after(text: string, at: number): number {
  return isPair(text, at) ? at + 2 : at + 1;
}

function before(text: string, at: number): number {
  return codePointStart(text, at - 1);
}

function codePointStart(text: string, at: number): number {
  return at > 0 && isPair(text, at - 1) ? at - 1 : at;
}

function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
