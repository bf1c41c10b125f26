/** Formats recaps as text: a heading per session, then a line per item. */

import { maskText } from "../api/mask.ts";
import { sessionHeading } from "../api/text/session-heading.ts";
import { maskedLine } from "./masked-line.ts";
import type { RecapCommand, RecapFile, RecapLine, SessionRecap } from "./recap.ts";
import { relativeTo } from "./relative-path.ts";

const REQUEST_CHARACTERS = 160;
const OUTCOME_CHARACTERS = 400;
const COMMAND_CHARACTERS = 100;
const FILES = 10;
const COMMANDS = 6;

export function showRecap(recap: SessionRecap, now: number): string {
  const { session, messages, unread, requestCount, outcome } = recap;
  const counts = [`${messages} messages`, ...(unread > 0 ? [`${unread} older ones not read`] : [])];
  return [
    sessionHeading(session, now, counts),
    ...showRequests(recap.requests, requestCount),
    ...(outcome === null ? [] : [`  outcome ${cite(outcome, OUTCOME_CHARACTERS)}`]),
    ...showFiles(recap.filesChanged, session.origin.projectPath),
    ...showCommands(recap.commands),
  ].join("\n");
}

function cite({ index, text }: RecapLine, characters: number): string {
  return `#${index}: ${maskedLine(text, characters)}`;
}

function showRequests(requests: readonly RecapLine[], count: number): string[] {
  const shown = requests.map((request) => `  asked ${cite(request, REQUEST_CHARACTERS)}`);
  const left = count - requests.length;
  if (left > 0) shown.splice(1, 0, `  … ${left} more requests`);
  return shown;
}

function showFiles(files: readonly RecapFile[], project: string | undefined): string[] {
  if (files.length === 0) return [];
  // The most frequent first.
  const most = files.toSorted((a, b) => b.times - a.times).slice(0, FILES);
  const names = most.map(({ path, times }) => {
    const name = maskText(relativeTo(project, path));
    return times > 1 ? `${name} (${times}×)` : name;
  });
  const left = files.length - most.length;
  return [`  changed ${names.join(", ")}${left > 0 ? `, ${left} more` : ""}`];
}

function showCommands(commands: readonly RecapCommand[]): string[] {
  if (commands.length === 0) return [];
  const shown = commands.slice(-COMMANDS).map(({ text, times, failed }) => {
    const again = times > 1 ? ` (${times}×)` : "";
    return `${maskedLine(text, COMMAND_CHARACTERS)}${again}${failed === true ? " (failed)" : ""}`;
  });
  const left = commands.length - shown.length;
  return [
    `  ran ${left > 0 ? `${left} others; ` : ""}${shown.map((one) => `\`${one}\``).join("; ")}`,
  ];
}
