/** Renders a summary as text; also the summarizer without a model. */

import type { SummaryProfile } from "../model/inputs/choices.ts";
import { cutText, joinFolds, oneLine } from "./digest/timeline.ts";
import { nameOf, rolesOfSeveral } from "./speakers.ts";
import type {
  CitedText,
  LedgerCommand,
  LedgerFile,
  Summarizer,
  SummaryStructure,
  TimelineFold,
} from "./summary.ts";

export type { SummaryProfile } from "../model/inputs/choices.ts";

/** Always below `MAX_SUMMARY_BYTES`. */
export function renderSummary(structure: SummaryStructure, profile: SummaryProfile): string {
  return profile === "claw" ? renderClaw(structure) : renderRich(structure);
}

/** Deterministic, without a model. */
export function mechanicalSummarizer(profile: SummaryProfile): Summarizer {
  return {
    name: `mechanical-${profile}`,
    summarize: async ({ structure, signal }) => {
      signal?.throwIfAborted();
      return { text: renderSummary(structure, profile), model: null, finishReason: "stop" };
    },
  };
}

// A summary in Markdown: requests, open work, and actions verbatim, each line with its entry id in
// brackets.
//
// It shows the newest part of each list; the structure holds the rest.

const SHOWN_COMMANDS = 30;
const COMMAND_CHARACTERS = 200;
const SHOWN_FILES = 30;
const PATH_CHARACTERS = 200;
const SHOWN_LINES = 30;
const LINE_CHARACTERS = 200;
const TOOLS_CHARACTERS = 2_000;

function renderRich(structure: SummaryStructure): string {
  const { scope, tools, requests, pending, keyFiles, currentWork, ledger } = structure;
  const changed = new Set(ledger.filesChanged.map(({ path }) => path));
  const onlyRead = ledger.filesRead.filter(({ path }) => !changed.has(path));
  const named = new Set([...changed, ...onlyRead.map(({ path }) => path)]);
  const mentioned = keyFiles.filter((path) => !named.has(path));

  const parts = [
    "# Summary of the earlier conversation",
    `${scope.messages} messages: ${scope.user} from the user, ${scope.assistant} from the assistant, ${scope.tool} from tools. An id in brackets names the entry behind a line.`,
    ...section("Latest requests", requests.map(citedLine)),
    ...section("Open work", pending.map(citedLine)),
    ...section("Where it stood", currentWork === null ? [] : [citedLine(currentWork)]),
    ...section("Commands run", commandLines(ledger.commands, ledger.earlierCommands)),
    ...section("Files changed", fileLines(ledger.filesChanged)),
    ...section("Files read", fileLines(onlyRead)),
    ...section(
      "Files mentioned",
      mentioned.map((path) => `- ${code(path)}`),
    ),
    ...section(
      "Tools used",
      tools.length === 0 ? [] : [cutText(tools.join(", "), TOOLS_CHARACTERS)],
    ),
    ...section("Timeline", timelineLines(structure)),
  ];
  return withoutTags(parts.join("\n\n"));
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")];
}

function citedLine({ text, entryId }: CitedText): string {
  return `- ${withoutBullet(text)} [${entryId}]`;
}

function commandLines(commands: readonly LedgerCommand[], earlier: number): string[] {
  const shown = commands.slice(-SHOWN_COMMANDS);
  return withRest(
    shown.map(({ text, entryId, failed }) => {
      const end = failed === undefined ? " (no result)" : failed ? " (failed)" : "";
      return `- ${code(cutText(text, COMMAND_CHARACTERS))}${end} [${entryId}]`;
    }),
    earlier + commands.length - shown.length,
    "earlier commands",
  );
}

function fileLines(files: readonly LedgerFile[]): string[] {
  const shown = files.slice(-SHOWN_FILES);
  const lines = shown.map(({ path, entryId, times }) => {
    return `- ${code(cutText(path, PATH_CHARACTERS))}${times > 1 ? ` (${times} times)` : ""} [${entryId}]`;
  });
  return withRest(lines, files.length - shown.length, "earlier files");
}

function timelineLines({ folded, timeline }: SummaryStructure): string[] {
  const shown = timeline.slice(-SHOWN_LINES);
  const older = joinFolds(folded, timeline.slice(0, timeline.length - shown.length));
  const named = rolesOfSeveral(timeline);
  return [
    ...older.map(foldLine),
    ...shown.map(
      ({ role, actor, text, entryId }) =>
        `- ${nameOf(role, actor, named)}: ${oneLine(text, LINE_CHARACTERS)} [${entryId}]`,
    ),
  ];
}

function foldLine({ from, through, messages, user, assistant, tool }: TimelineFold): string {
  return `- ${messages} messages (user ${user}, assistant ${assistant}, tool ${tool}) [${from}] to [${through}]`;
}

function withRest(lines: string[], rest: number, what: string): string[] {
  return rest > 0 ? [`- ${rest} ${what}, not listed`, ...lines] : lines;
}

/** A code span on one line, fenced by more backticks than the text has in a row. */
function code(text: string): string {
  const line = text.replace(/\s+/g, (space) => (/[\n\r]/.test(space) ? " ⏎ " : space));
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/**
 * A summary in claw-code's format, so that claw-code can continue the session.
 *
 * Two deliberate differences: a second summary is rendered from merged structure, so nothing nests;
 * and a timeline of more than 200 lines begins with counts.
 */
function renderClaw(structure: SummaryStructure): string {
  const { scope, tools, requests, pending, keyFiles, currentWork, folded, timeline } = structure;
  const lines = [
    "<summary>",
    "Conversation summary:",
    `- Scope: ${scope.messages} earlier messages compacted (${counts(scope)}).`,
  ];
  if (tools.length > 0) lines.push(`- Tools mentioned: ${tools.join(", ")}.`);
  if (requests.length > 0) lines.push("- Recent user requests:", ...bullets(requests));
  if (pending.length > 0) lines.push("- Pending work:", ...bullets(pending));
  if (keyFiles.length > 0) lines.push(`- Key files referenced: ${keyFiles.join(", ")}.`);
  if (currentWork !== null) lines.push(`- Current work: ${withoutTags(currentWork.text)}`);
  lines.push("- Key timeline:");
  for (const fold of folded) {
    const { messages, from, through } = fold;
    lines.push(`  - earlier: ${messages} messages (${counts(fold)}) from ${from} to ${through}`);
  }
  for (const { role, text } of timeline) lines.push(`  - ${role}: ${withoutTags(text)}`);
  lines.push("</summary>");
  return lines.join("\n");
}

interface Counts {
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

function counts({ user, assistant, tool }: Counts): string {
  return `user=${user}, assistant=${assistant}, tool=${tool}`;
}

function bullets(cited: readonly CitedText[]): string[] {
  return cited.map(({ text }) => `  - ${withoutBullet(withoutTags(text))}`);
}

/** Escapes the summary's tags in quoted text. */
function withoutTags(text: string): string {
  return text.replace(/<(\/?(?:summary|analysis))>/gi, "[$1]");
}

/** A message that begins with a list would nest inside ours. */
function withoutBullet(text: string): string {
  return text.replace(/^(?:\s*[-*+•]\s+)+/, "");
}

// The first message of a compacted conversation, in claw-code's words.
//
// claw-code recognises its own summaries by the first sentence, so the wording is part of its
// format. It is written here and never parsed.

const PREAMBLE =
  "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.";
const TAIL_KEPT = "Recent messages are preserved verbatim.";
const NO_QUESTIONS =
  "Continue the conversation from where it left off without asking the user any further questions. Resume directly — do not acknowledge the summary, do not recap what was happening, and do not preface with continuation text.";

interface ContinuationOptions {
  /** Verbatim messages follow. */
  readonly tailKept: boolean;
  /** Tells the model to continue without questions. Default true. */
  readonly suppressQuestions?: boolean;
}

export function continuationMessage(summary: string, options: ContinuationOptions): string {
  const { tailKept, suppressQuestions = true } = options;
  return [
    `${PREAMBLE}\n\n${formatSummary(summary)}`,
    tailKept ? `\n\n${TAIL_KEPT}` : "",
    suppressQuestions ? `\n${NO_QUESTIONS}` : "",
  ].join("");
}

/** The readable summary: no analysis, a heading instead of the tags, no gaps. */
function formatSummary(summary: string): string {
  const kept = withoutBlock(summary, "analysis");
  const inner = blockIn(kept, "summary");
  const titled =
    inner === undefined
      ? kept
      : `${kept.slice(0, inner.start)}Summary:\n${inner.text.trim()}${kept.slice(inner.end)}`;
  return titled.replace(/\n[^\S\n]*(?:\n[^\S\n]*)+\n/g, "\n\n").trim();
}

function withoutBlock(text: string, tag: string): string {
  let rest = text;
  for (let block = blockIn(rest, tag); block !== undefined; block = blockIn(rest, tag)) {
    rest = rest.slice(0, block.start) + rest.slice(block.end);
  }
  return rest;
}

function blockIn(
  text: string,
  tag: string,
): { start: number; end: number; text: string } | undefined {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  const start = text.indexOf(open);
  const from = start + open.length;
  const to = start < 0 ? -1 : text.indexOf(close, from);
  if (to < 0) return undefined;
  return { start, end: to + close.length, text: text.slice(from, to) };
}
