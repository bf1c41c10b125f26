/**
 * Renders Markdown as sanitised HTML.
 *
 * Transcripts are full of tags that were meant as text: HTML inside of Markdown is shown as it was
 * written. The result is sanitised all the same, and is the only HTML of the page.
 */

import type { renderMarkdown } from "./rich.ts";

/** Longer texts are shown as they are: parsing must not stop the page. */
export const MAX_MARKDOWN = 200_000;

/**
 * Prose: lines that begin with a letter and hold no Markdown syntax. Most typed text is prose, and
 * needs neither parser nor sanitiser.
 */
const PROSE = /^(?:\p{L}[\p{L}\p{M}\p{N} .,;?!()"'’“”…-]*(?:\n{1,2}|$))*$/u;

export function isProse(text: string): boolean {
  return PROSE.test(text) && !/www\./i.test(text);
}

let render: typeof renderMarkdown | undefined;

/** Loads the parser. Texts that are prose do without it. Never rejects: without it, texts stay as they are. */
export async function loadMarkdown(): Promise<void> {
  try {
    render ??= (await import("./rich.ts")).renderMarkdown;
  } catch {
    // The server was upgraded and no longer has the file; the next view reloads the page.
  }
}

/** Replaces the content of `place` by `text`. False if that needs `loadMarkdown` first. */
export function showMarkdown(place: Element, text: string): boolean {
  if (isProse(text)) {
    const parts = text.trim().split("\n\n");
    place.replaceChildren(...parts.filter((part) => part !== "").map(paragraph));
    return true;
  }
  if (render === undefined) return false;
  place.replaceChildren(render(text));
  return true;
}

function paragraph(text: string): Element {
  const element = document.createElement("p");
  for (const [at, line] of text.split("\n").entries()) {
    if (at > 0) element.append(document.createElement("br"));
    element.append(line);
  }
  return element;
}
