/**
 * Markdown as HTML: the blocks. A pure function of the text, in linear time.
 *
 * As on the page of the server, a line break is kept, and HTML is shown as it was written. All text is
 * escaped; the only attribute with text from a transcript is the address of a link.
 */

import { escapeHtml } from "./escape-html.ts";
import {
  dedent,
  fenceOf,
  HEADING,
  indentOf,
  isBlank,
  isBreak,
  isStart,
  itemOf,
  QUOTE,
} from "./markdown-lines.ts";
import { renderInline } from "./render-inline.ts";

/** Lists and quotes inside of each other. Deeper ones are text. */
const MAX_DEPTH = 12;
/** A heading of a message ranks below the title of the page and the author of the message. */
const HEADING_OFFSET = 2;

const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const TASK = /^\[([ xX])\][ \t]+/;
const DELIMITERS = /^[ \t|:-]+$/;

interface Cursor {
  readonly lines: readonly string[];
  readonly depth: number;
  /** The next line that no block has. */
  at: number;
}

export function renderMarkdown(text: string): string {
  return renderBlocks(text.split(/\r\n|\r|\n/), 0, false);
}

/** In a tight list, a paragraph is its text alone. */
function renderBlocks(lines: readonly string[], depth: number, isTight: boolean): string {
  const cursor: Cursor = { lines, depth, at: 0 };
  const blocks: string[] = [];
  while (cursor.at < lines.length) {
    if (isBlank(lineAt(cursor))) {
      cursor.at++;
      continue;
    }
    blocks.push(
      takeFence(cursor) ??
        takeIndented(cursor) ??
        takeHeading(cursor) ??
        takeBreak(cursor) ??
        takeQuote(cursor) ??
        takeList(cursor) ??
        takeTable(cursor) ??
        takeParagraph(cursor, isTight),
    );
  }
  return blocks.join("\n");
}

function lineAt({ lines, at }: Cursor, offset = 0): string {
  return lines[at + offset] ?? "";
}

function takeFence(cursor: Cursor): string | undefined {
  const fence = fenceOf(lineAt(cursor));
  if (fence === undefined) return undefined;
  const indent = indentOf(lineAt(cursor));
  const code: string[] = [];
  for (cursor.at++; cursor.at < cursor.lines.length; cursor.at++) {
    const line = lineAt(cursor);
    const end = fenceOf(line);
    if (end?.mark.startsWith(fence.mark) && isBlank(end.info)) break;
    code.push(dedent(line, indent));
  }
  cursor.at++;
  return codeHtml(code, /\S*/.exec(fence.info.trim())?.[0].slice(0, 40) ?? "");
}

function takeIndented(cursor: Cursor): string | undefined {
  const code: string[] = [];
  let blanks = 0;
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = lineAt(cursor);
    if (!isBlank(line) && indentOf(line) < 4) break;
    blanks = isBlank(line) ? blanks + 1 : 0;
    code.push(dedent(line, 4));
  }
  return code.length === 0 ? undefined : codeHtml(code.slice(0, code.length - blanks), "");
}

function codeHtml(lines: readonly string[], language: string): string {
  const label = language === "" ? "" : `<small>${escapeHtml(language)}</small>`;
  return `<figure>${label}<pre><code>${escapeHtml(lines.join("\n"))}</code></pre></figure>`;
}

function takeHeading(cursor: Cursor): string | undefined {
  const line = lineAt(cursor);
  const level = HEADING.exec(line)?.[1]?.length;
  if (level === undefined) return undefined;
  cursor.at++;
  const text = line.trim().slice(level).trim();
  // Number signs at the end close a heading if a blank is before them.
  let end = text.length;
  while (text.charAt(end - 1) === "#") end--;
  const isClosed = end === 0 || /[ \t]/.test(text.charAt(end - 1));
  return headingHtml(level, isClosed ? text.slice(0, end).trim() : text);
}

function headingHtml(level: number, text: string): string {
  const name = `h${Math.min(6, level + HEADING_OFFSET)}`;
  return `<${name}>${renderInline(text)}</${name}>`;
}

function takeBreak(cursor: Cursor): string | undefined {
  if (!isBreak(lineAt(cursor))) return undefined;
  cursor.at++;
  return "<hr>";
}

/** Whether a line without a marker goes on with the paragraph of the quote or item before it. */
function isLazy(before: string | undefined, line: string): boolean {
  return before !== undefined && !isBlank(before) && !isStart(before) && !isStart(line);
}

function takeQuote(cursor: Cursor): string | undefined {
  if (cursor.depth >= MAX_DEPTH || !QUOTE.test(lineAt(cursor))) return undefined;
  const quoted: string[] = [];
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = lineAt(cursor);
    if (isBlank(line) || !(QUOTE.test(line) || isLazy(quoted.at(-1), line))) break;
    quoted.push(QUOTE.test(line) ? dedent(line.trimStart().slice(1), 1) : line.trimStart());
  }
  return `<blockquote>${renderBlocks(quoted, cursor.depth + 1, false)}</blockquote>`;
}

function takeList(cursor: Cursor): string | undefined {
  const head = itemOf(lineAt(cursor));
  if (cursor.depth >= MAX_DEPTH || head === undefined) return undefined;
  const items: string[][] = [];
  let { column } = head;
  let isTight = true;
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = lineAt(cursor);
    const item = items.at(-1);
    if (isBlank(line)) {
      item?.push("");
      continue;
    }
    const isApart = item?.at(-1) === "";
    const next = item === undefined || indentOf(line) < column ? itemOf(line) : undefined;
    if (next?.marker.slice(-1) === head.marker.slice(-1)) {
      items.push([next.first]);
      column = next.column;
    } else if (item !== undefined && indentOf(line) >= column) {
      item.push(dedent(line, column));
    } else if (item !== undefined && isLazy(item.at(-1), line)) {
      item.push(line.trimStart());
    } else {
      break;
    }
    if (isApart) isTight = false;
  }
  const rows = items.map((lines) => itemHtml(lines, cursor.depth + 1, isTight));
  const start = Number.parseInt(head.marker, 10);
  const name = Number.isNaN(start) ? "ul" : "ol";
  const attribute = name === "ul" || start === 1 ? "" : ` start="${start}"`;
  return `<${name}${attribute}>${rows.join("")}</${name}>`;
}

function itemHtml(lines: readonly string[], depth: number, isTight: boolean): string {
  const [first = "", ...rest] = lines;
  const box = TASK.exec(first);
  if (box === null) return `<li>${renderBlocks(lines, depth, isTight)}</li>`;
  const sign = box[1] === " " ? "☐" : "☑";
  const text = [`${sign} ${first.slice(box[0].length)}`, ...rest];
  return `<li class="task">${renderBlocks(text, depth, isTight)}</li>`;
}

/** The classes of the columns of a table that begins at the cursor. */
function columnsAt(cursor: Cursor): readonly string[] | undefined {
  const [head, line] = [lineAt(cursor), lineAt(cursor, 1)];
  if (!DELIMITERS.test(line) || !head.includes("|")) return undefined;
  const cells = cellsOf(line);
  const isTable = cells.every((cell) => /^:?-+:?$/.test(cell));
  if (!isTable || cells.length !== cellsOf(head).length) return undefined;
  return cells.map((cell) =>
    cell.endsWith(":") ? ` class="${cell.startsWith(":") ? "center" : "right"}"` : "",
  );
}

function takeTable(cursor: Cursor): string | undefined {
  const columns = columnsAt(cursor);
  if (columns === undefined) return undefined;
  const rowHtml = (name: string, line: string) => {
    const cells = cellsOf(line).slice(0, columns.length);
    const html = cells.map((cell, at) => `<${name}${columns[at]}>${renderInline(cell)}</${name}>`);
    return `<tr>${html.join("")}</tr>`;
  };
  const head = rowHtml("th", lineAt(cursor));
  const rows: string[] = [];
  for (cursor.at += 2; cursor.at < cursor.lines.length; cursor.at++) {
    const line = lineAt(cursor);
    if (isBlank(line) || isStart(line)) break;
    rows.push(rowHtml("td", line));
  }
  return `<table><thead>${head}</thead><tbody>${rows.join("")}</tbody></table>`;
}

/** The cells of a row. An escaped bar is part of its cell. */
function cellsOf(line: string): string[] {
  const cells = [""];
  for (const [part] of line.trim().matchAll(/\\\||\||[^\\|]+|\\/g)) {
    if (part === "|") cells.push("");
    else cells[cells.length - 1] += part === "\\|" ? "|" : part;
  }
  if (cells[0] === "" && cells.length > 1) cells.shift();
  if (cells.at(-1)?.trim() === "" && cells.length > 1) cells.pop();
  return cells.map((cell) => cell.trim());
}

function takeParagraph(cursor: Cursor, isTight: boolean): string {
  const lines: string[] = [];
  do {
    lines.push(lineAt(cursor).trim());
    cursor.at++;
    if (UNDERLINE.test(lineAt(cursor))) {
      const level = lineAt(cursor).includes("=") ? 1 : 2;
      cursor.at++;
      return headingHtml(level, lines.join("\n"));
    }
  } while (!isBlank(lineAt(cursor)) && !isStart(lineAt(cursor)) && columnsAt(cursor) === undefined);
  const text = renderInline(lines.join("\n"));
  return isTight ? text : `<p>${text}</p>`;
}
