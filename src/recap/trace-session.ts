/** One session's findings for the subject of a trace, and for an error its fix. */

import type { SPAN } from "../model/answers/context.ts";
import type { TRACE_SUBJECTS } from "../model/inputs/choices.ts";
import type { FieldsOf } from "../model/shape.ts";
import { type RunFinder, runFinder, type TextRun } from "../search/text/text-run.ts";
import { type Act, bareCommand, type Call } from "./read-acts.ts";

/** The first and last message, and the number. */
export interface Span extends FieldsOf<typeof SPAN> {}

export interface FileFinding {
  readonly kind: "file";
  readonly changed: Span | null;
  readonly read: Span | null;
  /** Commands that name it. */
  readonly commands: Span | null;
  /** The call that changed it last. */
  readonly lastChange: Call | null;
  /** The user's request before that. */
  readonly asked: string | null;
}

export interface CommandFinding {
  readonly kind: "command";
  readonly runs: Span;
  readonly failures: Span | null;
  readonly lastRun: Call;
  /** After the last failure. */
  readonly cleared: Clearing | null;
}

export interface ErrorFinding {
  readonly kind: "error";
  readonly met: Span;
  /** The last line with the error. */
  readonly line: string;
  /** The last call that met it; null if only the user reported it. */
  readonly call: Call | null;
  readonly cleared: Clearing | null;
}

export type Finding = FileFinding | CommandFinding | ErrorFinding;

/** The events after an error. */
export interface Clearing {
  /** Changes before the same call succeeded, or after the error. */
  readonly edits: readonly Call[];
  /** The next success of the failed call; null if it was not retried. */
  readonly success: Call | null;
  /** The agent's next text, where neither is known. */
  readonly answer: { readonly index: number; readonly text: string } | null;
}

/** The last message of the change, run or error. */
export function lastIndexOf(finding: Finding): number | null {
  switch (finding.kind) {
    case "file": {
      const { changed, read, commands } = finding;
      return (changed ?? read ?? commands)?.last ?? null;
    }
    case "command":
      return finding.lastRun.index;
    case "error":
      return finding.met.last;
  }
}

export function findIn(acts: readonly Act[], sought: Sought): Finding | undefined {
  switch (sought.kind) {
    case "file":
      return findFile(acts, sought.text);
    case "command":
      return findCommand(acts, sought.find);
    case "error":
      return findError(acts, sought.find);
  }
}

function findFile(acts: readonly Act[], path: string): FileFinding | undefined {
  const calls = callsOf(acts).filter(({ result }) => result?.failed !== true);
  const by = (touch: string) => calls.filter((call) => touchOf(call, path) === touch);
  const changes = by("changed");
  const [changed, read, commands] = [spanOf(changes), spanOf(by("read")), spanOf(by("command"))];
  if (changed === null && read === null && commands === null) return undefined;
  const last = changes.at(-1);
  if (last === undefined)
    return { kind: "file", changed, read, commands, lastChange: null, asked: null };
  const asked = askedBefore(acts, last);
  return { kind: "file", changed, read, commands, lastChange: briefly(last), asked };
}

function findCommand(acts: readonly Act[], find: RunFinder): CommandFinding | undefined {
  const runs = callsOf(acts).filter((call) => runsCommand(call, find));
  const [span, lastRun] = [spanOf(runs), runs.at(-1)];
  if (span === null || lastRun === undefined) return undefined;
  const failed = runs.filter(({ result }) => result?.failed === true);
  const last = failed.at(-1);
  return {
    kind: "command",
    runs: span,
    failures: spanOf(failed),
    lastRun: briefly(lastRun),
    cleared:
      last === undefined
        ? null
        : clearingOf(acts, last, (call) => runsCommand(call, find) && worked(call)),
  };
}

function findError(acts: readonly Act[], find: RunFinder): ErrorFinding | undefined {
  const met = acts.flatMap((act) => {
    if (act.type === "call" ? isQuoted(act, find) : act.role !== "user") return [];
    const text = act.type === "call" ? (act.result?.output ?? "") : act.text;
    const line = lineWith(text, find);
    return line === undefined ? [] : [{ act, line }];
  });
  const inResults = met.filter(({ act }) => act.type === "call");
  const chosen = inResults.length > 0 ? inResults : met;
  const last = chosen.at(-1);
  const span = spanOf(chosen.map(({ act }) => act));
  if (last === undefined || span === null) return undefined;
  const call = last.act.type === "call" ? last.act : null;
  const isCleared = (next: Call) =>
    call !== null &&
    worked(next) &&
    find(next.result?.output ?? "") === undefined &&
    (isSameCommand(call, next) || isSameEdit(call, next));
  return {
    kind: "error",
    met: span,
    line: last.line,
    call: call === null ? null : briefly(call),
    cleared: clearingOf(acts, last.act, isCleared),
  };
}

/** A file that is read, or a search for the text, shows the error without meeting it. */
function isQuoted({ effects, input, result }: Call, find: RunFinder): boolean {
  if (result?.failed === true) return false;
  return effects.read.length > 0 || find(input) !== undefined;
}

function isSameEdit(a: Call, b: Call): boolean {
  return (
    a.tool === b.tool &&
    a.effects.changed.some((path) => b.effects.changed.some((other) => isSameFile(path, other)))
  );
}

/** The limit of named changes. */
const MAX_EDITS = 5;

function clearingOf(
  acts: readonly Act[],
  after: Act,
  isCleared: (call: Call) => boolean,
): Clearing | null {
  const rest = acts.slice(acts.indexOf(after) + 1);
  const at = rest.findIndex((act) => act.type === "call" && isCleared(act));
  const success = at < 0 ? null : (rest[at] as Call);
  // Without a retry, the acts up to the user's next message count as the fix.
  const next = rest.findIndex((act) => act.type === "said" && act.role === "user");
  const end = at >= 0 ? at : next < 0 ? rest.length : next;
  const between = rest.slice(0, end);
  const edits = callsOf(between).filter((call) => call.effects.changed.length > 0 && worked(call));
  const said = between.find((act) => act.type === "said" && act.role === "assistant");
  const answer =
    success === null && said?.type === "said"
      ? { index: said.index, text: brief(said.text) }
      : null;
  if (success === null && edits.length === 0 && answer === null) return null;
  // Those right before the success fixed it; without one, those right after the error may have.
  const near = success === null ? edits.slice(0, MAX_EDITS) : edits.slice(-MAX_EDITS);
  return { edits: near.map(briefly), success: success && briefly(success), answer };
}

/** The limit of each text of a finding, in UTF-16 units: an answer has up to 140 calls. */
const MAX_TEXT = 4_096;

/** The head and the last part of a long text. */
function brief(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT / 2)}…${text.slice(-MAX_TEXT / 2)}`.toWellFormed();
}

function briefly(call: Call): Call {
  const { input, effects, result } = call;
  return {
    ...call,
    input: brief(input),
    effects: { ...effects, commands: effects.commands.map(brief) },
    ...(result === undefined ? {} : { result: { ...result, output: brief(result.output) } }),
  };
}

function worked({ result }: Call): boolean {
  return result?.failed === false;
}

function askedBefore(acts: readonly Act[], call: Call): string | null {
  const last = acts
    .slice(0, acts.indexOf(call))
    .findLast((act) => act.type === "said" && act.role === "user");
  return last?.type === "said" ? brief(last.text) : null;
}

function callsOf(acts: readonly Act[]): readonly Call[] {
  return acts.filter((act) => act.type === "call");
}

function spanOf(acts: readonly Act[]): Span | null {
  const [first, last] = [acts[0], acts.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { first: first.index, last: last.index, times: acts.length };
}

export interface Subject {
  readonly kind: (typeof TRACE_SUBJECTS)[number];
  readonly text: string;
}

/** A subject, and how its text is found. */
export interface Sought extends Subject {
  /** Of a file, the name alone: a call may have another part of its path. */
  readonly run: TextRun;
  readonly find: RunFinder;
}

/** As whole words, where only an error ignores case; or within words, where all do. */
export function seek({ kind, text }: Subject, wholeWords: boolean): Sought {
  const name = kind === "file" ? (pathParts(text).at(-1) ?? "") : text;
  const run: TextRun = {
    text: name,
    of: kind === "error" ? "results" : "calls",
    wholeWords,
    ignoreCase: kind === "error" || !wholeWords,
  };
  return { kind, text, run, find: runFinder(run) };
}

type Touch = "changed" | "read" | "command";

/** How a call touched a file; undefined if it did not. */
function touchOf({ effects }: Call, path: string): Touch | undefined {
  if (effects.changed.some((each) => isSameFile(each, path))) return "changed";
  if (effects.read.some((each) => isSameFile(each, path))) return "read";
  const name = pathParts(path).join("/");
  return effects.commands.some((command) => mentions(command, name)) ? "command" : undefined;
}

/** Whether one path is a suffix of the other. */
export function isSameFile(a: string, b: string): boolean {
  const [short, long] = [pathParts(a), pathParts(b)].sort((x, y) => x.length - y.length);
  if (short === undefined || long === undefined || short.length === 0) return false;
  return short.every((part, i) => part === long[long.length - short.length + i]);
}

export function pathParts(path: string): string[] {
  return path.split(/[\\/]+/).filter((part) => part !== "" && part !== ".");
}

/** As a whole path, not part of another name. */
function mentions(command: string, path: string): boolean {
  const at = command.indexOf(path);
  if (at < 0) return false;
  const [before, after] = [command[at - 1] ?? " ", command[at + path.length] ?? " "];
  return !/[\p{L}\p{M}\p{N}_.-]/u.test(before) && !/[\p{L}\p{M}\p{N}_-]/u.test(after);
}

function runsCommand({ effects }: Call, find: RunFinder): boolean {
  return effects.commands.some((each) => find(each) !== undefined);
}

function isSameCommand(a: Call, b: Call): boolean {
  const [first] = a.effects.commands;
  if (first === undefined) return false;
  return b.effects.commands.some((each) => bareCommand(each) === bareCommand(first));
}

/** The limit of a shown line, and its part before the error. */
const LINE_LENGTH = 1_000;
const BEFORE_ERROR = 200;

/** The line of `text` where the error begins; undefined if it has none. */
export function lineWith(text: string, find: RunFinder): string | undefined {
  const place = find(text);
  if (place === undefined) return undefined;
  const start = text.lastIndexOf("\n", place.start) + 1;
  const end = text.indexOf("\n", place.start);
  const line = text.slice(start, end < 0 ? undefined : end);
  if (line.length <= LINE_LENGTH) return line;
  const from = Math.max(0, place.start - start - BEFORE_ERROR);
  return line.slice(from, from + LINE_LENGTH);
}
