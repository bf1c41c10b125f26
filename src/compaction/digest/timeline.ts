/**
 * The timeline of a summary: a line per message, with counts for the oldest.
 *
 * To stay bounded, old lines are folded into ranges: the number of messages by role, and the first
 * and last entry.
 */

import { type Block, inputTextOf, type ToolResultBlock } from "../../model/block.ts";
import type { TimelineFold, TimelineLine } from "../summary.ts";

const MAX_TIMELINE_LINES = 200;
/**
 * The bound of all lines. Only messages with many blocks reach it: a usual line has 160 characters.
 */
const MAX_TIMELINE_CHARACTERS = 60_000;
const MAX_FOLDS = 20;

const BLOCK_CHARACTERS = 160;
/** Blocks shown on a line; the rest is counted. */
const BLOCKS_A_LINE = 20;
/** The size of a full range. */
const FOLD_MESSAGES = 100;

export interface Timeline {
  readonly folded: TimelineFold[];
  readonly lines: TimelineLine[];
  characters: number;
}

export function startTimeline(
  folded: readonly TimelineFold[],
  lines: readonly TimelineLine[],
): Timeline {
  const characters = lines.reduce((sum, { text }) => sum + text.length, 0);
  return { folded: [...folded], lines: [...lines], characters };
}

export function addLine(timeline: Timeline, line: TimelineLine): void {
  timeline.lines.push(line);
  timeline.characters += line.text.length;
  while (
    timeline.lines.length > MAX_TIMELINE_LINES ||
    timeline.characters > MAX_TIMELINE_CHARACTERS
  ) {
    const oldest = timeline.lines.shift() as TimelineLine;
    timeline.characters -= oldest.text.length;
    fold(timeline.folded, oldest);
  }
}

/** Folds `lines` into `folded`, which precedes them. */
export function joinFolds(
  folded: readonly TimelineFold[],
  lines: readonly TimelineLine[],
): TimelineFold[] {
  const all = [...folded];
  for (const line of lines) fold(all, line);
  return all;
}

/** Joins two consecutive timelines. Lines before a range of the later one are folded too. */
export function joinTimelines(
  earlier: TimelineParts,
  later: TimelineParts,
): { readonly folded: readonly TimelineFold[]; readonly timeline: readonly TimelineLine[] } {
  const isFolded = later.folded.length > 0;
  const folded = isFolded
    ? [...joinFolds(earlier.folded, earlier.timeline), ...later.folded]
    : earlier.folded;
  const joined = startTimeline(folded, isFolded ? [] : earlier.timeline);
  for (const line of later.timeline) addLine(joined, line);
  while (joined.folded.length > MAX_FOLDS) joinSmallest(joined.folded);
  return { folded: joined.folded, timeline: joined.lines };
}

interface TimelineParts {
  readonly folded: readonly TimelineFold[];
  readonly timeline: readonly TimelineLine[];
}

/** A message as a line. Thinking is left out. */
export function lineOf(
  blocks: readonly Block[],
  toolName: (result: ToolResultBlock) => string,
): string {
  const parts: string[] = [];
  let more = 0;
  for (const block of blocks) {
    if (block.type === "thinking" || (block.type === "text" && block.text.trim() === "")) continue;
    if (parts.length < BLOCKS_A_LINE) parts.push(partOf(block, toolName));
    else more++;
  }
  if (more > 0) parts.push(`${more} more blocks`);
  return parts.join(" | ");
}

/** The text parts of a tool's result. */
export function outputText({ output }: ToolResultBlock): string {
  if (typeof output === "string") return output;
  return output.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

function partOf(block: Block, toolName: (result: ToolResultBlock) => string): string {
  switch (block.type) {
    case "text":
      return oneLine(block.text, BLOCK_CHARACTERS);
    case "tool_use":
      return oneLine(`tool_use ${block.name}(${inputTextOf(block)})`, BLOCK_CHARACTERS);
    case "tool_result": {
      const error = block.isError ? "error " : "";
      const text = `tool_result ${toolName(block)}: ${error}${outputText(block)}`;
      return oneLine(text, BLOCK_CHARACTERS);
    }
    default:
      return `[${block.type}]`;
  }
}

function fold(folded: TimelineFold[], { role, entryId }: TimelineLine): void {
  const one: TimelineFold = {
    from: entryId,
    through: entryId,
    messages: 1,
    user: role === "user" ? 1 : 0,
    assistant: role === "assistant" ? 1 : 0,
    tool: role === "tool" ? 1 : 0,
  };
  const last = folded.at(-1);
  if (last !== undefined && last.messages < FOLD_MESSAGES)
    folded[folded.length - 1] = join(last, one);
  else folded.push(one);
  if (folded.length > MAX_FOLDS) joinSmallest(folded);
}

/** Joins the two smallest neighbours, so that recent ranges stay fine. */
function joinSmallest(folded: TimelineFold[]): void {
  let at = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i + 1 < folded.length; i++) {
    const messages = (folded[i]?.messages ?? 0) + (folded[i + 1]?.messages ?? 0);
    // The last one is still being filled.
    if (messages < least && i + 2 < folded.length) [at, least] = [i, messages];
  }
  folded.splice(at, 2, join(folded[at] as TimelineFold, folded[at + 1] as TimelineFold));
}

function join(a: TimelineFold, b: TimelineFold): TimelineFold {
  return {
    from: a.from,
    through: b.through,
    messages: a.messages + b.messages,
    user: a.user + b.user,
    assistant: a.assistant + b.assistant,
    tool: a.tool + b.tool,
  };
}

/** The first `max` code points of `text`, with "…" if it was cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  let end = 0;
  for (let count = 0; count < max && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  const head = text.slice(0, end).toWellFormed();
  return end < text.length ? `${head}…` : head;
}

/** Characters read of a text that becomes a line. */
const HEAD_LENGTH = 8_192;

/**
 * `text` as one line of at most `max` code points. White space with a line break becomes one space:
 * lines have a meaning in a summary, so quoted text must not add any.
 */
export function oneLine(text: string, max: number): string {
  const near = text.slice(0, 4 * max);
  if (near.length < text.length && !/^\s/.test(near)) {
    // The head usually suffices: text of more than twice as many units has more code points.
    const joined = joinLines(near).trimEnd();
    if (joined.length > 2 * max) return cutText(joined, max);
  }
  const head = text.slice(0, HEAD_LENGTH);
  const joined = joinLines(head);
  const line = cutText(joined === head ? head : joined.trim(), max);
  return head.length < text.length && !line.endsWith("…") ? `${line}…` : line;
}

function joinLines(text: string): string {
  if (!LINE_BREAK.test(text)) return text;
  return text.replace(/\s+/g, (run) => (LINE_BREAK.test(run) ? " " : run));
}

const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
