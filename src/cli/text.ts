/** Text for a terminal: its width, and protection against control sequences. */

import { clean } from "../model/display.ts";

export { clean };

/** Lazy: loading its tables is a tenth of a short command's time. */
let graphemes: Intl.Segmenter | undefined;

/** The grapheme clusters of `text`. */
function charactersOf(text: string): string[] {
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** Emoji, and the scripts whose characters take two columns. */
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/u;

/** The columns of `text` on a terminal. */
export function widthOf(text: string): number {
  // Fast path for plain text.
  if (/^[ -~]*$/.test(text)) return text.length;
  return charactersOf(text).reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

/** Cuts `text` to `columns`, the ellipsis included. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const character of charactersOf(text)) {
    width += widthOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Columns by which the further lines of a wrapped line are indented more than its first. */
const HANGING = 4;

/** Breaks a line between words to fit `columns`. A longer word has a line of its own. */
export function wrapLine(line: string, columns: number, hangs: number = HANGING): string[] {
  if (widthOf(line) <= columns) return [line];
  const [indent = ""] = /^ */.exec(line) ?? [];
  const hanging = " ".repeat(indent.length + hangs);
  const wrapped: string[] = [];
  let current = indent;
  let width = indent.length;
  let isEmpty = true;
  for (const word of line.slice(indent.length).split(" ")) {
    const columnsOfWord = widthOf(word);
    if (!isEmpty && width + 1 + columnsOfWord > columns) {
      wrapped.push(current);
      [current, width, isEmpty] = [hanging, hanging.length, true];
    }
    current += isEmpty ? word : ` ${word}`;
    width += columnsOfWord + (isEmpty ? 0 : 1);
    isEmpty = false;
  }
  return [...wrapped, current];
}

/** On one line, for a column of a table. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}
