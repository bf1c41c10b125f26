/** Prints hits for people: the session, the matching lines, and their neighbours. */

import { holdNotes } from "../api/text/later.ts";
import { talkOf, whoDid } from "../api/text/talk.ts";
import { isCallPart, readableCall, toolCallLine } from "../api/text/tool-call.ts";
import { type ShownNeighbours, shownItems } from "../api/text/window.ts";
import type { SearchResult } from "../engine/search.ts";
import { excerptRange, isRun } from "../model/display.ts";
import { formatTime } from "./print.ts";
import type { Terminal } from "./terminal.ts";
import { clean, clip, oneLine } from "./text.ts";

type Hit = SearchResult["hits"][number];
type Item = Hit["window"][number];
type Match = Item["matches"][number];

/** The limits of matching lines of a message, and of lines of a neighbour. */
const MATCH_LINES = 4;
const NEAR_LINES = 2;

/** The line limit in a pipe, which has no width: a line may be a whole file. */
const MAX_COLUMNS = 400;

const BRANCHES = { late: "a branch: its file came late", left: "a branch that was left" } as const;

/**
 * With the neighbours of `style`; without, what was asked and what was said to it. The `first` hit, which
 * a person reads, is shown at length, and with it other messages of its session.
 */
export function formatHit(
  hit: Hit,
  terminal: Terminal,
  style?: ShownNeighbours,
  first?: readonly Item[],
): string[] {
  const { title, agent, updatedAt } = hit.meta;
  const id = oneLine(hit.shortId);
  const room = terminal.columns - id.length - 2;
  const facts = [
    oneLine(agent),
    formatTime(updatedAt),
    ...(hit.branch === null ? [] : [BRANCHES[hit.branch]]),
    ...holdNotes(hit, hit.sessionId).map(oneLine),
    ...(hit.parts === undefined ? [] : [`score ${hit.score.toFixed(2)}`]),
  ].join(" · ");
  const parts = Object.entries(hit.parts ?? {}).map(([name, part]) => `${name} ${part.toFixed(3)}`);
  return [
    `${terminal.bold(id)}  ${title === "" ? "(no title)" : clip(oneLine(title), room)}`,
    `  ${terminal.dim(facts)}`,
    ...(parts.length === 0 ? [] : [terminal.dim(`  ${parts.join(" + ")}`)]),
    ...(style === undefined
      ? formatTalk(hit, terminal, first)
      : shownItems(hit.window, style).flatMap((item) => formatItem(item, terminal))),
  ];
}

/** Rows of an answer: of the first hit, and of the others. */
const FIRST_ROWS = 6;
const ANSWER_ROWS = 3;
/** Rows of another message of the first hit's session. */
const MORE_ROWS = 3;
/** Rows of a line at most. */
const LINE_ROWS = 3;

/** The found message with what it answers, or the answer to it: what it says around the query's words. */
function formatTalk(
  { window, exchange, meta }: Hit,
  terminal: Terminal,
  first: readonly Item[] | undefined,
): string[] {
  const talk = talkOf(window, exchange);
  const items = [...talk, ...(first ?? [])];
  const labels = items.map(
    (item) => [oneLine(whoDid(item, meta.agent)), `#${item.index}`] as const,
  );
  const widths = [0, 1].map((i) => Math.max(...labels.map((label) => label[i]?.length ?? 0)));
  const [who = 0, number = 0] = widths;
  const indent = who + number + 6;
  const width = Math.max(20, Math.min(terminal.columns - indent, MAX_COLUMNS));
  const rowsOf = ({ role, found }: Item) => {
    const isFirst = first !== undefined;
    // An answer says more than its request, which the person knows.
    if (role === "user" && talk.length > 1) return found && isFirst ? LINE_ROWS : 1;
    return isFirst ? FIRST_ROWS : ANSWER_ROWS;
  };
  return items.flatMap((item, i) => {
    const [name = "", ref = ""] = labels[i] ?? [];
    const head = `${name.padEnd(who)}  ${ref.padEnd(number)}  `;
    const isMain = i < talk.length;
    return passage(item, width, isMain ? rowsOf(item) : MORE_ROWS).map((line, row) => {
      const label = item.found && isMain ? `▸ ${terminal.bold(head)}` : `  ${terminal.dim(head)}`;
      return (row > 0 ? " ".repeat(indent) : label) + cutLine(line, terminal, width).trimStart();
    });
  });
}

/**
 * Successive lines of a message that fill the rows and tell most: a run, else the most of the query's
 * words, and sentences that explain. The first lines if none has a word.
 */
function passage(item: Item, width: number, rows: number): readonly Line[] {
  let isCode = false;
  const lines = linesOf(item).flatMap((line) => {
    const isFence = /^\s{0,8}```/.test(line.text);
    if (isFence) isCode = !isCode;
    if (isFence || /^[-=*_|: ]{3,}$/.test(line.text)) return [];
    const tells = told(line) * (isCode ? CODE_TELLS : 1);
    return [{ rows: folded(line, width, Math.min(rows, LINE_ROWS)), tells }];
  });
  let best: readonly Line[] = [];
  let most = -1;
  for (const first of lines.keys()) {
    const shown: Line[] = [];
    let sum = 0;
    for (const next of lines.slice(first)) {
      if (shown.length + next.rows.length > rows) break;
      shown.push(...next.rows);
      sum += next.tells;
    }
    if (sum > most) [best, most] = [shown, sum];
  }
  return best;
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

/** What a line of code tells, beside a sentence. */
const CODE_TELLS = 0.4;

/** What a run counts, beside the characters of different words. */
const RUN_COUNTS = 1_000;

function told(line: Line): number {
  const words = line.matches.map((match) => {
    const { start, end } = inLine(match, line.start);
    return line.text.slice(start, end).toLowerCase();
  });
  const length = [...new Set(words)].reduce((sum, word) => sum + word.length, 0);
  return (length + 1) * saying(line.text.trim()) + (hasRun(line) ? RUN_COUNTS : 0);
}

/** Words by which a sentence says what was found, decided or done. */
const EXPLAINS =
  /\b(?:because|causes?|caused|the (?:issue|problem|bug|reason|answer|fix)|turns out|fixed|instead|so that|means|due to|only (?:if|when))\b/i;

/** How much a line of this form says, beside a plain sentence: headings and names in a list say less. */
function saying(text: string): number {
  const isHeading = /^#{1,6} /.test(text) || /[:*]$/.test(text);
  const words = text.split(/\s{1,9}/, 6).length;
  return (isHeading ? 0.6 : 1) * (words < 5 ? 0.6 : 1) * (EXPLAINS.test(text) ? 1.4 : 1);
}

function formatItem(item: Item, terminal: Terminal): string[] {
  const who = item.actor === null ? (item.role ?? "message") : oneLine(item.actor);
  const role = item.role === null || item.role === who ? [] : [item.role];
  const label = `#${item.index} ${[...role, who].join(" · ")}`;
  const width = widthOf(terminal);
  const lines = item.found ? foundLines(item, terminal, width) : nearLines(item, width);
  return [
    item.found ? `▸ ${terminal.bold(label)}` : `  ${terminal.dim(label)}`,
    ...lines.map((line) => `    ${line}`),
  ];
}

function widthOf(terminal: Terminal): number {
  return Math.max(20, Math.min(terminal.columns - 4, MAX_COLUMNS));
}

/** A neighbour's head, or a tool call on one line. */
function nearLines(item: Item, width: number): string[] {
  const call = toolCallLine(item.snippet);
  if (call !== undefined || item.toolName !== null) {
    return [clip(oneLine(call ?? item.snippet), width)];
  }
  const lines = clean(item.snippet)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const shown = lines.slice(0, NEAR_LINES).map((line) => clip(line.trimEnd(), width));
  const isCut = lines.length > shown.length || item.truncated;
  return isCut ? markCut(shown, width) : shown;
}

/** Marks the last line if more follows. */
function markCut(lines: readonly string[], width: number): string[] {
  const last = lines.at(-1) ?? "";
  return [...lines.slice(0, -1), last.endsWith("…") ? last : `${clip(last, width - 2)} …`];
}

interface Line {
  readonly start: number;
  readonly text: string;
  readonly matches: readonly Match[];
}

/** The lines with a run, else with matches, each cut around them; the beginning if there is none. */
function foundLines(item: Item, terminal: Terminal, width: number): string[] {
  const lines = linesOf(item);
  const withRun = lines.filter(hasRun);
  const matching = withRun.length > 0 ? withRun : lines.filter(({ matches }) => matches.length > 0);
  const chosen = matching.length > 0 ? withContext(lines, matching) : lines.slice(0, MATCH_LINES);
  const shown: string[] = [];
  let last: number | undefined;
  for (const line of chosen) {
    const at = lines.indexOf(line);
    if (last !== undefined && at > last + 1) shown.push(terminal.dim("…"));
    shown.push(cutLine(line, terminal, width));
    last = at;
  }
  const rest = lines.length - 1 - (last ?? lines.length - 1);
  if (rest > 0 || item.truncated) shown.push(terminal.dim("…"));
  return shown;
}

function hasRun({ start, text, matches }: Line): boolean {
  return matches.some((match) => isRun(text, inLine(match, start)));
}

function inLine(match: Match, start: number): Match {
  return { start: match.start - start, end: match.end - start };
}

/** Non-empty lines; the arguments of a call as plain text. */
function linesOf(item: Item): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const text of item.snippet.split("\n")) {
    const end = start + text.length;
    const own = item.matches.filter((match) => match.start >= start && match.start < end);
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

/** A single match is shown with the lines before and after it. */
function withContext(lines: readonly Line[], matching: readonly Line[]): readonly Line[] {
  const [first] = matching;
  if (matching.length > 1 || first === undefined) return matching.slice(0, MATCH_LINES);
  const at = lines.indexOf(first);
  return lines.slice(Math.max(0, at - 1), at + 2);
}

/** Cut between words, with the matches marked; at most a third of the room precedes them. */
function cutLine({ start, text, matches }: Line, terminal: Terminal, width: number): string {
  const own = matches.map((match) => inLine(match, start));
  // A mark of the cut takes a column on each side.
  const room = text.length <= width ? width : width - 2;
  const { start: from, end: to } = excerptRange(text, own, room, Math.floor(width / 3));
  let shown = from > 0 ? "…" : "";
  let at = from;
  for (const { start: begin, end } of own) {
    if (begin < at || begin >= to) continue;
    const until = Math.min(end, to);
    shown += clean(text.slice(at, begin)) + terminal.mark(clean(text.slice(begin, until)));
    at = until;
  }
  return shown + clean(text.slice(at, to)).trimEnd() + (to < text.length ? "…" : "");
}
