/** Requests more messages around a hit than are shown, so that empty ones can be skipped. */

import { MAX_WINDOW } from "../../model/limits.ts";

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
