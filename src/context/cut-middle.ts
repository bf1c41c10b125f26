/**
 * The head and tail of a long text.
 *
 * Lengths are in code points: a cut by UTF-16 unit can leave half a surrogate pair, which some
 * providers refuse in every later request.
 */

import { endOutsideSecret, startOutsideSecret } from "../secrets/cut-outside-secrets.ts";

/** The first `head` and the last `tail` characters of `text`, if it has more than both together. */
export function cutMiddle(text: string, head: number, tail: number): string {
  if (lengthOf(text) <= head + tail) return text;
  const end = endOutsideSecret(text, indexOf(text, head));
  const start = startOutsideSecret(text, indexFromEnd(text, tail));
  return `${text.slice(0, end)}\n...\n${text.slice(start)}`;
}

export function lengthOf(text: string): number {
  // Most texts have none, and a regular expression is much faster than the loop.
  if (!/[\ud800-\udfff]/.test(text)) return text.length;
  let pairs = 0;
  for (let i = 1; i < text.length; i++) if (isPair(text, i)) pairs++;
  return text.length - pairs;
}

/** The index of the character after the first `count`. */
function indexOf(text: string, count: number): number {
  let index = 0;
  for (let i = 0; i < count && index < text.length; i++) index += isPair(text, index + 1) ? 2 : 1;
  return index;
}

/** The index of the last `count` characters. */
function indexFromEnd(text: string, count: number): number {
  let index = text.length;
  for (let i = 0; i < count && index > 0; i++) index -= isPair(text, index - 1) ? 2 : 1;
  return index;
}

/** Whether the unit at `index` is a low surrogate after a high one. */
function isPair(text: string, index: number): boolean {
  return (
    (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800
  );
}
