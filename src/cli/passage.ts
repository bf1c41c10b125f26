/** The passage of a message that tells most about a query, on a few rows of a terminal. */

import { isCallPart, readableCall } from "../api/text/tool-call.ts";
import type { SearchResult } from "../engine/search.ts";
import { excerptRange, isRun } from "../model/display.ts";

type Item = SearchResult["hits"][number]["window"][number];
type Match = Item["matches"][number];

export interface Line {
  readonly start: number;
  readonly text: string;
  readonly matches: readonly Match[];
}

/** Rows of a line at most. */
export const LINE_ROWS = 3;

/** What a run of the query's words counts, beside the characters of different words. */
const RUN_COUNTS = 1_000;
/** What a line counts that says what was found or decided, and the first one of a message. */
const VERDICT_COUNTS = 6;
const OPENING_COUNTS = 4;

/**
 * Successive lines of a message that fill the rows and tell most: a run, else the most of the query's
 * words, each counted once, and lines with a verdict. The first lines if none has a word.
 */
export function passage(item: Item, width: number, rows: number): readonly Line[] {
  const lines = tellingLines(item).map((line, i) => ({
    ...line,
    isFirst: i === 0,
    rows: folded(line.line, width, Math.min(rows, LINE_ROWS)),
  }));
  const hasWord = lines.some(({ line }) => line.matches.length > 0);
  let best: readonly Line[] = [];
  let most = Number.NEGATIVE_INFINITY;
  for (const first of lines.keys()) {
    const shown: Line[] = [];
    const words = new Map<string, number>();
    let sum = 0;
    for (const { line, rows: own, says, isVerdict, isFirst } of lines.slice(first)) {
      if (shown.length + own.length > rows) break;
      shown.push(...own);
      for (const word of wordsOf(line)) words.set(word, Math.max(words.get(word) ?? 0, says));
      sum += (isVerdict ? VERDICT_COUNTS : 0) + (isFirst ? OPENING_COUNTS : 0);
      sum += hasRun(line) ? RUN_COUNTS : 0;
    }
    for (const [word, says] of words) sum += word.length * says;
    // Without a word of the query a verdict is about something else.
    if (hasWord && words.size === 0) continue;
    if (sum > most) [best, most] = [shown, sum];
  }
  return best;
}

interface Telling {
  readonly line: Line;
  /** How much a word in it counts, beside one in a plain sentence. */
  readonly says: number;
  readonly isVerdict: boolean;
}

const HEADING_SAYS = 0.6;
const CODE_SAYS = 0.25;

/** Without fences, and rules of tables and between parts. */
function tellingLines(item: Item): readonly Telling[] {
  let isCode = false;
  return linesOf(item).flatMap((line) => {
    const text = line.text.trim();
    if (text.startsWith("```")) {
      isCode = !isCode;
      return [];
    }
    if (/^[-=*_|: ]{3,}$/.test(text)) return [];
    const isCited = isCode || /\]\(https?:/.test(text);
    const isHeading = /^#{1,6} /.test(text) || /[:*]$/.test(text) || isShort(text);
    const says = isCited ? CODE_SAYS : isHeading ? HEADING_SAYS : 1;
    return [{ line, says, isVerdict: !isCited && EXPLAINS.test(text) }];
  });
}

function isShort(text: string): boolean {
  return text.split(/\s{1,9}/, 6).length < 5;
}

/** Words by which a sentence says what was found, decided or done. */
const EXPLAINS =
  /\b(?:because|causes?|caused|the (?:actual |real )?(?:issue|problem|bug|reason|answer|fix|culprit)|root cause|turns out|TL;?DR|in short|confirmed|fixed|instead|so that|means|due to|only (?:if|when)|no (?:good )?reason|not? (?:strictly )?(?:necessary|needed))\b/i;

function wordsOf({ start, text, matches }: Line): readonly string[] {
  return matches.map((match) => {
    const own = inLine(match, start);
    return text.slice(own.start, own.end).toLowerCase();
  });
}

/** A line of text on at most so many rows, around its matches. */
function folded({ start, text, matches }: Line, width: number, rows: number): readonly Line[] {
  if (text.length <= width || rows === 1) return [{ start, text, matches }];
  const own = matches.map((match) => inLine(match, start));
  const range = excerptRange(text, own, rows * (width - 4), Math.floor(width / 3));
  const cut: Line[] = [];
  for (let from = range.start; from < range.end; ) {
    const before = from > 0 && cut.length === 0 ? "…" : "";
    const isLast = cut.length === rows - 1;
    const rest = range.end - from <= width - 2;
    const space = text.lastIndexOf(" ", from + width - 2);
    const to = isLast || rest ? range.end : space > from ? space + 1 : from + width - 2;
    const after = to === range.end && to < text.length ? "…" : "";
    cut.push({
      start: start + from - before.length,
      text: before + text.slice(from, to).trimEnd() + after,
      matches: matches.filter((match) => match.start >= start + from && match.start < start + to),
    });
    from = to;
  }
  return cut;
}

export function hasRun({ start, text, matches }: Line): boolean {
  return matches.some((match) => isRun(text, inLine(match, start)));
}

export function inLine(match: Match, start: number): Match {
  return { start: match.start - start, end: match.end - start };
}

/** Non-empty lines; the arguments of a call as plain text. */
export function linesOf(item: Item): Line[] {
  const lines: Line[] = [];
  let start = 0;
  let next = 0;
  for (const text of item.snippet.split("\n")) {
    const end = start + text.length;
    const own: Match[] = [];
    // They are in order, and none is in two lines.
    for (let match = item.matches[next]; match && match.start < end; match = item.matches[++next]) {
      if (match.start >= start) own.push(match);
    }
    const line = { start, text, matches: own };
    if (text.trim() !== "") lines.push(isCall(line, item) ? readable(line) : line);
    start = end + 1;
  }
  return lines;
}

function isCall({ start, text }: Line, { role, toolName, truncated }: Item): boolean {
  return role === "assistant" && toolName !== null && isCallPart(text, start === 0 && truncated);
}

function readable({ start, text, matches }: Line): Line {
  const { text: plain, offsetOf } = readableCall(text);
  const at = (offset: number) => offsetOf(offset - start);
  return {
    start: 0,
    text: plain,
    matches: matches.map((match) => ({ start: at(match.start), end: at(match.end) })),
  };
}
