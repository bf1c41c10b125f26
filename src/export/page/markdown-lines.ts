/** Lines of Markdown: their indentation, and the block that one begins. */

export function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** The columns of white space before a line; a tab reaches to the next multiple of four. */
export function indentOf(line: string): number {
  let columns = 0;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === " ") columns++;
    else if (character === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/** Takes up to `columns` columns of white space from a line. */
export function dedent(line: string, columns: number): string {
  let [at, taken] = [0, 0];
  for (; taken < columns && (line[at] === " " || line[at] === "\t"); at++) {
    taken += line[at] === " " ? 1 : 4 - (taken % 4);
  }
  return " ".repeat(Math.max(0, taken - columns)) + line.slice(at);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)/s;
export const HEADING: RegExp = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
export const QUOTE: RegExp = /^ {0,3}>/;
const ITEM = /^([-*+]|\d{1,9}[.)])(?=[ \t]|$)/;

export function fenceOf(line: string): { mark: string; info: string } | undefined {
  const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
  return mark === "" || (mark.startsWith("`") && info.includes("`")) ? undefined : { mark, info };
}

export function isBreak(line: string): boolean {
  return indentOf(line) < 4 && /^(?:-{3,}|\*{3,}|_{3,})$/.test(line.replace(/[ \t]/g, ""));
}

export interface ListItem {
  /** `-`, `*`, `+`, or a number with `.` or `)`. */
  readonly marker: string;
  /** The column of its content. */
  readonly column: number;
  /** The first line of its content. */
  readonly first: string;
}

export function itemOf(line: string): ListItem | undefined {
  const indent = indentOf(line);
  const rest = line.trimStart();
  const marker = indent > 3 || isBreak(line) ? undefined : ITEM.exec(rest)?.[1];
  if (marker === undefined) return undefined;
  const after = rest.slice(marker.length);
  const gap = indentOf(after);
  const width = isBlank(after) || gap > 4 ? 1 : gap;
  return { marker, column: indent + marker.length + width, first: dedent(after, width) };
}

/** Whether a line ends the paragraph before it. */
export function isStart(line: string): boolean {
  if (!/^[ \t]*[`~#>*_+\d-]/.test(line)) return false;
  if (fenceOf(line) !== undefined || HEADING.test(line) || QUOTE.test(line) || isBreak(line)) {
    return true;
  }
  const item = itemOf(line);
  // A number that begins a line of prose is no list.
  return item !== undefined && !isBlank(item.first) && /^(?:[-*+]|1[.)])$/.test(item.marker);
}
