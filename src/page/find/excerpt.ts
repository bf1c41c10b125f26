/** Cuts a snippet to a few lines around its matches, and shows its Markdown as such, within a line. */

import { excerptRange, type TextRange } from "../../model/display.ts";

export interface Piece {
  readonly text: string;
  readonly marked: boolean;
  readonly style?: Style;
}

type Style = "code" | "strong";

interface Part extends TextRange {
  readonly style?: Style;
}

/** Characters before the matches, and in total: about three lines. */
const BEFORE = 90;
const LENGTH = 360;

/** `isTalk`: the text is Markdown. Otherwise it is of a tool. */
export function excerpt(
  snippet: string,
  matches: readonly TextRange[],
  isTalk: boolean,
  length: number = LENGTH,
): readonly Piece[] {
  const { start: from, end: to } = excerptRange(snippet, matches, length, BEFORE);
  const parts = isTalk ? partsOf(snippet) : [{ start: 0, end: snippet.length }];
  const pieces = parts.flatMap(({ start, end, style }) => {
    const cut: Piece[] = [];
    let at = Math.max(start, from);
    const last = Math.min(end, to);
    const add = (until: number, marked: boolean) => {
      if (until > at) {
        const text = snippet.slice(at, until);
        const plain = (isTalk ? withoutHalf(text) : text).replace(/\s+/g, " ");
        cut.push({ text: plain, marked, ...(style === undefined ? {} : { style }) });
        at = until;
      }
    };
    for (const match of matches) {
      if (match.end <= at || match.start >= last) continue;
      add(match.start, false);
      add(Math.min(match.end, last), true);
    }
    add(last, false);
    return cut;
  });
  if (from > 0) pieces.unshift({ text: "… ", marked: false });
  if (to < snippet.length) pieces.push({ text: " …", marked: false });
  return pieces.filter(({ text }) => text !== "");
}

/**
 * Fences, headings, quotes and the rules of tables at the start of a line; code; bold text; links and images. Globs such as
 * `src/**` keep their asterisks.
 */
const MARKDOWN =
  /^ *(?:```[\w-]*|#{1,6} |> |\|[-:| ]+$)|`([^`\n]+)`|(?<![\w/*])\*\*(?=[^\s*])((?:(?!\*\*)[^\n])+)\*\*(?![\w/*])|!?\[([^[\]\n]+)\]\([^()\s]*\)/dgm;

/** The text without its marks, in order. */
function partsOf(text: string, base: number = 0, style?: Style): readonly Part[] {
  const parts: Part[] = [];
  const add = (start: number, end: number, its: Style | undefined) => {
    parts.push({
      start: base + start,
      end: base + end,
      ...(its === undefined ? {} : { style: its }),
    });
  };
  let at = 0;
  for (const match of text.matchAll(MARKDOWN)) {
    add(at, match.index, style);
    at = match.index + match[0].length;
    const [, code, strong, link] = match.indices ?? [];
    if (code !== undefined) add(...code, "code");
    for (const [inner, its] of [[strong, "strong"] as const, [link, style] as const]) {
      if (inner === undefined) continue;
      parts.push(...partsOf(text.slice(...inner), base + inner[0], its));
    }
  }
  add(at, text.length, style);
  return parts;
}

/** Without a mark of bold text whose other one was cut off. */
function withoutHalf(text: string): string {
  return text.replace(/(?<![\w/*])\*\*(?=[\w`]|$)|(?<=[\w.:!?)`]|^)\*\*(?![\w/*])/g, "");
}
