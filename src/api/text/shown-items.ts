/** Selects the shown messages of a hit's window. */

import { opensInjected } from "../../search/document/injected.ts";
import type { WindowItem } from "../../search/request.ts";

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

/** Neighbours without text, system messages and injected text are skipped. */
function isSaid({ snippet, role }: WindowItem): boolean {
  if (snippet.trim() === "" || role === "system") return false;
  return role === "assistant" || !opensInjected(snippet);
}
