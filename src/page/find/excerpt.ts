/** Cuts a snippet to a few lines around its matches. */

import { excerptRange, type TextRange } from "../../model/display.ts";

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** Characters before the matches, and in total: about three lines. */
const BEFORE = 90;
const LENGTH = 360;

export function excerpt(
  snippet: string,
  matches: readonly TextRange[],
  length: number = LENGTH,
): readonly Piece[] {
  const { start: from, end: to } = excerptRange(snippet, matches, length, BEFORE);
  const pieces: Piece[] = [];
  let at = from;
  for (const { start, end } of matches) {
    if (start < at || start >= to) continue;
    pieces.push({ text: snippet.slice(at, start), marked: false });
    pieces.push({ text: snippet.slice(start, Math.min(end, to)), marked: true });
    at = Math.min(end, to);
  }
  pieces.push({ text: snippet.slice(at, to), marked: false });
  if (from > 0) pieces.unshift({ text: "… ", marked: false });
  if (to < snippet.length) pieces.push({ text: " …", marked: false });
  return pieces
    .map(({ text, marked }) => ({ text: plainLine(text), marked }))
    .filter(({ text }) => text !== "");
}

/**
 * A text as part of a line: white space collapsed, and without the marks of Markdown's headings,
 * fences and bold text. Globs such as `src/**` keep their asterisks. JSON escapes, as in the input
 * of a tool call, are decoded.
 */
export function plainLine(text: string): string {
  return text
    .replace(/^ *(```[\w-]*|#{1,6} )/gm, "")
    .replace(/(?<![\w/*])\*\*(?=[\w`]|$)|(?<=[\w.:!?)`]|^)\*\*(?![\w/*])/g, "")
    .replace(/\\[nrt]/g, " ")
    .replace(/\\"/g, '"')
    .replace(/\s+/g, " ");
}
