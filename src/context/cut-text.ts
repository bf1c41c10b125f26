/**
 * Cuts the middle of a long text to a number of tokens (binary search), with a note of the cut
 * amount.
 *
 * The token counter is a black box: it may be any tokenizer. Only texts of about the result's size
 * are counted, so a text of megabytes costs no more than a short one.
 */

import { endOutsideSecret, startOutsideSecret } from "../secrets/cut-outside-secrets.ts";

/** A lower bound of tokenizers: at most this many characters of ordinary text per token. */
const MOST_CHARACTERS_A_TOKEN = 8;

/** The note for `left` of `total` missing characters (UTF-16 units). */
export type CutNote = (left: number, total: number) => string;

/**
 * Head and tail of `text` within `keep` by `count`; monotonic in `keep`. Only the note if even that
 * exceeds it.
 */
export function cutText(
  text: string,
  keep: number,
  count: (text: string) => number,
  note: CutNote,
): string {
  const make = (kept: number, isLast = false): string => {
    const end = headEnd(text, Math.ceil(kept / 2));
    const start = tailStart(text, Math.floor(kept / 2));
    const head = isLast ? endOutsideSecret(text, end) : end;
    const tail = isLast ? startOutsideSecret(text, start) : start;
    const words = note(tail - head, text.length);
    return [text.slice(0, head), words, text.slice(tail)]
      .filter((part) => part !== "")
      .join("\n")
      .toWellFormed();
  };
  let [low, high] = [0, Math.min(text.length - 1, Math.max(0, keep) * MOST_CHARACTERS_A_TOKEN)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (count(make(middle)) <= keep) low = middle;
    else high = middle - 1;
  }
  // The note may grow by a token where a secret is left out.
  let cut = make(low, true);
  while (low > 0 && count(cut) > keep) {
    low = Math.max(0, low - MOST_CHARACTERS_A_TOKEN);
    cut = make(low, true);
  }
  return cut;
}

/** Splits no surrogate pair. */
function headEnd(text: string, length: number): number {
  return length > 0 && isHigh(text.charCodeAt(length - 1)) ? length - 1 : length;
}

function tailStart(text: string, length: number): number {
  const start = text.length - length;
  return length > 0 && isLow(text.charCodeAt(start)) ? start + 1 : start;
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
