/** Prints hits for people: the session, the matching lines, and their neighbours. */

import { holdNotes } from "../api/text/later.ts";
import { talkOf, whoDid } from "../api/text/talk.ts";
import { toolCallLine } from "../api/text/tool-call.ts";
import { type ShownNeighbours, shownItems } from "../api/text/window.ts";
import type { SearchResult } from "../engine/search.ts";
import { excerptRange } from "../model/display.ts";
import type { FirstHit } from "./first-hit.ts";
import { hasRun, inLine, LINE_ROWS, type Line, linesOf, passage } from "./passage.ts";
import { formatTime } from "./print.ts";
import type { Terminal } from "./terminal.ts";
import { clean, clip, oneLine } from "./text.ts";

type Hit = SearchResult["hits"][number];
type Item = Hit["window"][number];

/** The limits of matching lines of a message, and of lines of a neighbour. */
const MATCH_LINES = 4;
const NEAR_LINES = 2;

/** The line limit in a pipe, which has no width: a line may be a whole file. */
const MAX_COLUMNS = 400;

const BRANCHES = { late: "a branch: its file came late", left: "a branch that was left" } as const;

/** With the neighbours of `style`; without, what was asked and what was said to it; `first` at length. */
export function formatHit(
  hit: Hit,
  terminal: Terminal,
  style?: ShownNeighbours,
  first?: FirstHit,
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

/** A shorter request without a word of the query says nothing to who did not see what it answers. */
const REQUEST_LETTERS = 60;

/** The found message with what it answers, or the answer to it: what it says around the query's words. */
function formatTalk(
  { window, exchange, meta }: Hit,
  terminal: Terminal,
  first: FirstHit | undefined,
): string[] {
  const talk = (first?.talk ?? talkOf(window, exchange)).filter(
    ({ found, role, matches, snippet }) =>
      found || role !== "user" || matches.length > 0 || snippet.length >= REQUEST_LETTERS,
  );
  const items = [...talk, ...(first?.more ?? [])];
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
