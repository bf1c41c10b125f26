/** Formats a list within a number of bytes: whole items while they fit, then a note. */

import { cutToBytes } from "./cut-text.ts";

export interface Listing {
  readonly items: readonly string[];
  /** The item shown first; others are added outwards from it. Default: the first. */
  readonly focus?: number;
  /** The answer with the items from `from` to before `to`. */
  readonly toText: (shown: readonly string[], from: number, to: number) => string;
}

/** At most `maxBytes` of UTF-8. Items are whole; only the focus is cut if it alone is too long. */
export function fitListing({ items, focus = 0, toText }: Listing, maxBytes: number): string {
  const textOf = (from: number, to: number) => toText(items.slice(from, to), from, to);
  const fits = (text: string) => Buffer.byteLength(text) <= maxBytes;
  const all = textOf(0, items.length);
  if (items.length === 0) return cutToBytes(all, maxBytes);
  if (fits(all)) return all;

  let [from, to] = [focus, focus + 1];
  let shown = textOf(from, to);
  if (!fits(shown))
    return cutFocus(items[focus] ?? "", (item) => toText([item], from, to), maxBytes);
  let [isOpenBefore, isOpenAfter] = [from > 0, to < items.length];
  while (isOpenBefore || isOpenAfter) {
    if (isOpenAfter) {
      const more = textOf(from, to + 1);
      isOpenAfter = fits(more) && to + 1 < items.length;
      if (fits(more)) [shown, to] = [more, to + 1];
    }
    if (isOpenBefore) {
      const more = textOf(from - 1, to);
      isOpenBefore = fits(more) && from - 1 > 0;
      if (fits(more)) [shown, from] = [more, from - 1];
    }
  }
  return shown;
}

/** The envelope may grow with its items, so the number is found by trial. */
function cutFocus(item: string, toText: (item: string) => string, maxBytes: number): string {
  let room = maxBytes - Buffer.byteLength(toText(""));
  while (room > 0) {
    const text = toText(cutToBytes(item, room));
    const over = Buffer.byteLength(text) - maxBytes;
    if (over <= 0) return text;
    room -= Math.max(over, 16);
  }
  return cutToBytes(toText(""), maxBytes);
}
