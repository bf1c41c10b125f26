/**
 * The messages around a hit: more are requested than are shown, so that empty ones can be skipped.
 */

import { MAX_WINDOW } from "../../model/limits.ts";
import type { WindowItem } from "../../search/request.ts";
import { isSaid } from "./talk.ts";

/**
 * The window of a search that shows `before` and `after` messages, up to `reach` wider on each side
 * that shows any, within `MAX_WINDOW`. A window that is too large is unchanged, and the search
 * refuses it.
 */
export function widerWindow(
  before: number,
  after: number,
  reach: number,
): { readonly contextBefore: number; readonly contextAfter: number } {
  const sides = [before, after].filter((shown) => shown > 0).length;
  const room = Math.max(0, MAX_WINDOW - 1 - before - after);
  const more = Math.min(reach, Math.floor(room / Math.max(1, sides)));
  return {
    contextBefore: before === 0 ? 0 : before + more,
    contextAfter: after === 0 ? 0 : after + more,
  };
}

/** The number of neighbours with text on each side. */
export interface ShownNeighbours {
  readonly before: number;
  readonly after: number;
}

/** The hit and its nearest neighbours with text. */
export function shownItems(
  window: readonly WindowItem[],
  { before, after }: ShownNeighbours,
): readonly WindowItem[] {
  const at = window.findIndex(({ found }) => found);
  const saying = (items: readonly WindowItem[]) => items.filter(isSaid);
  if (at < 0) return saying(window).slice(0, Math.max(1, after));
  const earlier = saying(window.slice(0, at));
  return [
    ...earlier.slice(Math.max(0, earlier.length - before)),
    ...window.slice(at, at + 1),
    ...saying(window.slice(at + 1)).slice(0, after),
  ];
}
