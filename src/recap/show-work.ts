/** Formats recaps and traces as text: a heading per session, then a line per item or finding. */

import { LONGEST_SECRET, maskText } from "../api/mask.ts";
import { markNote } from "../api/text/later.ts";
import { sessionHeading } from "../api/text/session-heading.ts";
import { telling } from "../api/text/tool-call.ts";
import { oneLine } from "../compaction/digest/timeline.ts";
import { formatCount } from "../model/display.ts";
import type { Call } from "./read-acts.ts";
import { bareCommand } from "./read-acts.ts";
import type { RecapCommand, RecapFile, RecapLine, SessionRecap } from "./recap.ts";
import type { Trace, TracedSession } from "./trace.ts";
import type { Clearing, CommandFinding, ErrorFinding, FileFinding, Span } from "./trace-session.ts";

const REQUEST_CHARACTERS = 160;
const OUTCOME_CHARACTERS = 400;
const COMMAND_CHARACTERS = 100;
const FILES = 10;
const COMMANDS = 6;

/** `remark` is one more fact of the heading. */
export function showRecap(recap: SessionRecap, now: number, remark = ""): string {
  const { session, messages, unread, requestCount, outcome } = recap;
  const counts = [`${messages} messages`, ...(unread > 0 ? [`${unread} older ones not read`] : [])];
  return [
    sessionHeading(session, now, remark === "" ? counts : [...counts, remark]),
    ...showMarks(recap),
    ...showRequests(recap.requests, requestCount),
    ...(outcome === null ? [] : [`  outcome ${cite(outcome, OUTCOME_CHARACTERS)}`]),
    ...showFiles(recap.filesChanged, session.origin.projectPath),
    ...showCommands(recap.commands),
  ].join("\n");
}

/** Of the session itself, and of messages by their number. */
function showMarks({ session, marks }: Pick<SessionRecap, "session" | "marks">): string[] {
  return marks.map((mark) => {
    const message = mark.index === null ? "" : `#${mark.index} `;
    return `  ${message}${maskedLine(markNote(mark, session.id), LINE_CHARACTERS)}`;
  });
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

const CALL_CHARACTERS = 140;
/** Elements that agents put around errors. */
const ERROR_TAGS = /<\/?tool_use_error>/g;
const LINE_CHARACTERS = 240;

/** The names of a surface's search, limit and narrowing options. */
interface TraceWords {
  readonly search: string;
  readonly limit: string;
  readonly narrow: string;
}

/** Sentences about what a trace does not show: that nothing has it, or what else may. */
export function traceNotes(trace: Trace, { search, limit, narrow }: TraceWords): string[] {
  const { subject, sessions, withinWords, more, unread } = trace;
  const isNone = sessions.length === 0;
  return [
    ...(isNone && unread === 0
      ? [
          `No session has this ${subject.kind}. Try a shorter part of it; ${search} also finds mentions.`,
        ]
      : []),
    ...(withinWords && !isNone
      ? ["No session has it as whole words; these have it within words."]
      : []),
    ...(more > 0
      ? [`${sessionCount(more)} more ${more === 1 ? "has" : "have"} it: ${limit}.`]
      : []),
    ...(unread > 0
      ? [
          `${isNone ? `No session that was read has this ${subject.kind}, but` : "Also,"} ${sessionCount(unread)} may have it and ${unread === 1 ? "was" : "were"} not read: narrow it with ${narrow}.`,
        ]
      : []),
  ];
}

function sessionCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "session" : "sessions"}`;
}

export function showTraced(traced: TracedSession, now: number): string {
  const { session, finding, otherBranch } = traced;
  const project = session.origin.projectPath;
  const lines =
    finding.kind === "file"
      ? showFile(finding)
      : finding.kind === "command"
        ? showCommand(finding, project)
        : showError(finding, project);
  const notes = otherBranch ? ["on a branch other than the active one:"] : [];
  return [
    sessionHeading(session, now),
    ...showMarks(traced),
    ...[...notes, ...lines].map((line) => `  ${line}`),
  ].join("\n");
}

function showFile({ changed, read, commands, lastChange, asked }: FileFinding): string[] {
  const touched = [
    ...(changed === null ? [] : [`changed ${showSpan(changed)}`]),
    ...(read === null ? [] : [`read ${showSpan(read)}`]),
    ...(commands === null ? [] : [`named in commands ${showSpan(commands)}`]),
  ];
  return [
    touched.join("; "),
    ...(lastChange === null || asked === null
      ? []
      : [`#${lastChange.index} was asked for by: ${maskedLine(asked, LINE_CHARACTERS)}`]),
  ];
}

function showCommand(finding: CommandFinding, project: string | undefined): string[] {
  const { runs, failures, lastRun, cleared } = finding;
  const failed = failures === null ? "" : `, failed ${showSpan(failures)}`;
  const ended = endOf(lastRun);
  return [
    `ran ${showSpan(runs)}${failed}`,
    `last ${showCall(lastRun, project)}${ended}`,
    ...showClearing(cleared, "after the last failure", project),
  ];
}

function endOf({ result }: Call): string {
  if (result === undefined) return "";
  const said = result.output.split("\n").findLast((each) => each.trim() !== "");
  const outcome = result.failed ? "failed" : "worked";
  return said === undefined
    ? ` → ${outcome}`
    : ` → ${outcome}: ${maskedLine(said, CALL_CHARACTERS)}`;
}

function showError(finding: ErrorFinding, project: string | undefined): string[] {
  const { met, call, cleared } = finding;
  const times = met.times === 1 && call !== null ? "" : ` ${showSpan(met)}`;
  const by =
    call === null ? "" : `${met.times === 1 ? "" : ", last"} by ${showCall(call, project)}`;
  return [
    `met${times}${by}`,
    `  ${maskedLine(finding.line.replace(ERROR_TAGS, ""), LINE_CHARACTERS)}`,
    ...(cleared === null
      ? ["not cleared in this session, as far as it shows"]
      : showClearing(cleared, "cleared by", project)),
  ];
}

function showClearing(
  cleared: Clearing | null,
  word: string,
  project: string | undefined,
): string[] {
  if (cleared === null) return [];
  const { edits, success, answer } = cleared;
  const steps = [
    ...lastOfEach(edits).map((edit) => showCall(edit, project)),
    ...(success === null ? [] : [`${showCall(success, project)} worked`]),
    ...(answer === null
      ? []
      : [`#${answer.index} said: ${maskedLine(answer.text, LINE_CHARACTERS)}`]),
  ];
  // Without a later success the fix is unconfirmed.
  const said = success === null && word === "cleared by" ? "then (not seen to be cleared)" : word;
  return [`${said}: ${steps.join("; ")}`];
}

/** Several changes of one file are one step. */
function lastOfEach(edits: readonly Call[]): readonly Call[] {
  return edits.filter((edit, i) => {
    const [path] = edit.effects.changed;
    return !edits.slice(i + 1).some(({ effects }) => effects.changed[0] === path);
  });
}

function showCall({ index, tool, effects, input }: Call, project: string | undefined): string {
  const [path] = [...effects.changed, ...effects.read];
  const about =
    path === undefined
      ? ((effects.commands[0] === undefined ? undefined : bareCommand(effects.commands[0])) ??
        telling(input) ??
        input)
      : relativeTo(project, path);
  return `#${index} ${tool} ${maskedLine(about, CALL_CHARACTERS)}`;
}

function showSpan({ first, last, times }: Span): string {
  return times === 1 ? `at #${first}` : `${times} times (#${first}–#${last})`;
}

/** `text` as one line of at most `characters` code points, with secrets masked. */
function maskedLine(text: string, characters: number): string {
  return oneLine(maskText(text.trim().slice(0, characters + LONGEST_SECRET)), characters);
}

/** A path relative to its project; other paths unchanged. */
function relativeTo(project: string | undefined, path: string): string {
  if (project === undefined || project === "") return path;
  const folder = project.endsWith("/") ? project : `${project}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
