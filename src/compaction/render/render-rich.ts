/**
 * A summary in Markdown: requests, open work, and actions verbatim, each line with its entry id in
 * brackets.
 *
 * It shows the newest part of each list; the structure holds the rest.
 */

import { cutText, oneLine } from "../digest/cut-text.ts";
import { joinFolds } from "../digest/timeline.ts";
import type {
  CitedText,
  LedgerCommand,
  LedgerFile,
  SummaryStructure,
  TimelineFold,
} from "../summary.ts";
import { withoutBullet, withoutTags } from "./render-claw.ts";

const SHOWN_COMMANDS = 30;
const COMMAND_CHARACTERS = 200;
const SHOWN_FILES = 30;
const PATH_CHARACTERS = 200;
const SHOWN_LINES = 30;
const LINE_CHARACTERS = 200;
const TOOLS_CHARACTERS = 2_000;

export function renderRich(structure: SummaryStructure): string {
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
  return [
    ...older.map(foldLine),
    ...shown.map(
      ({ role, text, entryId }) => `- ${role}: ${oneLine(text, LINE_CHARACTERS)} [${entryId}]`,
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
