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

/** With the neighbours of `style`; without, what was asked and what was said to it. */
export function formatHit(hit: Hit, terminal: Terminal, style?: ShownNeighbours): string[] {
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
      ? formatTalk(hit, terminal)
      : shownItems(hit.window, style).flatMap((item) => formatItem(item, terminal))),
  ];
}

const TALK_LINES = 2;

/** The found message with what it answers, or the answer to it, a line or two each. */
function formatTalk({ window, exchange, meta }: Hit, terminal: Terminal): string[] {
  const items = talkOf(window, exchange);
  const labels = items.map(
    (item) => [oneLine(whoDid(item, meta.agent)), `#${item.index}`] as const,
  );
  const widths = [0, 1].map((i) => Math.max(...labels.map((label) => label[i]?.length ?? 0)));
  const [who = 0, number = 0] = widths;
  const indent = who + number + 6;
  const width = Math.max(20, Math.min(terminal.columns - indent, MAX_COLUMNS));
  return items.flatMap((item, i) => {
    const [name = "", ref = ""] = labels[i] ?? [];
    // An answer says more than its request, which the person knows.
    const count = item.role === "user" && items.length > 1 ? 1 : TALK_LINES;
    const head = `${name.padEnd(who)}  ${ref.padEnd(number)}  `;
    const lines = tellingLines(item, count);
    const rows = lines.flatMap((line, i) => (i === 0 && count > 1 ? folded(line, width) : [line]));
    return rows.slice(0, count + 1).map((line, row) => {
      const label = item.found ? `▸ ${terminal.bold(head)}` : `  ${terminal.dim(head)}`;
      return (row > 0 ? " ".repeat(indent) : label) + cutLine(line, terminal, width).trimStart();
    });
  });
}

/**
 * The lines of a message that tell most: a run, else the most of the query's words, longer words
 * before shorter ones; then the next of them, or what a line that ends with a colon announces. The
 * first lines if none has a word.
 */
function tellingLines(item: Item, count: number): readonly Line[] {
  const lines = linesOf(item).filter(
    ({ text }) => !/^\s{0,8}(?:```|[-=*_]{3,}\s{0,8}$)/.test(text),
  );
  const [best, ...others] = lines
    .filter(({ matches }) => matches.length > 0)
    .toSorted((a, b) => told(b) - told(a));
  if (best === undefined) return lines.slice(0, count);
  const next = lines[lines.indexOf(best) + 1];
  const second = best.text.trimEnd().endsWith(":") ? next : (others[0] ?? next);
  const chosen = new Set([best, second].slice(0, count));
  return lines.filter((line) => chosen.has(line));
}

/** A line that is longer than its row, on two rows. */
function folded({ start, text, matches }: Line, width: number): readonly Line[] {
  if (text.length <= width) return [{ start, text, matches }];
  const own = matches.map((match) => inLine(match, start));
  const range = excerptRange(text, own, 2 * width - 4, Math.floor(width / 3));
  const space = text.lastIndexOf(" ", range.start + width - 2);
  const middle = space > range.start ? space : range.start + width - 2;
  const cut = (from: number, to: number, before: string, after: string): Line => ({
    start: start + from - before.length,
    text: before + text.slice(from, to) + after,
    matches: matches.filter((match) => match.start >= start + from && match.start < start + to),
  });
  return [
    cut(range.start, middle, range.start > 0 ? "…" : "", ""),
    cut(middle, range.end, "", range.end < text.length ? "…" : ""),
  ];
}

/** What a run counts, beside the characters of different words. */
const RUN_COUNTS = 1_000;

function told(line: Line): number {
  const words = line.matches.map((match) => {
    const { start, end } = inLine(match, line.start);
    return line.text.slice(start, end).toLowerCase();
  });
  const length = [...new Set(words)].reduce((sum, word) => sum + word.length, 0);
  return length * saying(line.text.trim()) + (hasRun(line) ? RUN_COUNTS : 0);
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
