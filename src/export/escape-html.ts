/** Apart from the renderer of Markdown, which is loaded only where there is some. */

import { clean } from "../model/display.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML. Every character of a transcript in a page passes through here. */
export function escapeHtml(text: string): string {
  return clean(text.toWellFormed()).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
