/** One session's findings for a subject, and for an error its fix. */

import { isLookup } from "./lookup.ts";
import type { Act, Call } from "./read-acts.ts";
import {
  isSameCommand,
  isSameFile,
  lineWith,
  runsCommand,
  type Subject,
  touchOf,
} from "./subject.ts";

/** The first and last message, and the number. */
export interface Span {
  readonly first: number;
  readonly last: number;
  readonly times: number;
}

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
  /** The last call that met it; null if it was only mentioned. */
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

export function findIn(acts: readonly Act[], subject: Subject): Finding | undefined {
  switch (subject.kind) {
    case "file":
      return findFile(acts, subject.text);
    case "command":
      return findCommand(acts, subject.text);
    case "error":
      return findError(acts, subject.text);
  }
}

function findFile(acts: readonly Act[], path: string): FileFinding | undefined {
  const calls = callsOf(acts).filter(({ result }) => result?.failed !== true);
  const by = (touch: string) => calls.filter((call) => touchOf(call, path) === touch);
  const changes = by("changed");
  const [changed, read, commands] = [spanOf(changes), spanOf(by("read")), spanOf(by("command"))];
  if (changed === null && read === null && commands === null) return undefined;
  const lastChange = changes.at(-1) ?? null;
  const asked = lastChange === null ? null : askedBefore(acts, lastChange.index);
  return { kind: "file", changed, read, commands, lastChange, asked };
}

function findCommand(acts: readonly Act[], command: string): CommandFinding | undefined {
  const runs = callsOf(acts).filter((call) => runsCommand(call, command));
  const [span, lastRun] = [spanOf(runs), runs.at(-1)];
  if (span === null || lastRun === undefined) return undefined;
  const failed = runs.filter(({ result }) => result?.failed === true);
  const last = failed.at(-1);
  return {
    kind: "command",
    runs: span,
    failures: spanOf(failed),
    lastRun,
    cleared:
      last === undefined
        ? null
        : clearingOf(acts, last, (call) => runsCommand(call, command) && worked(call)),
  };
}

function findError(acts: readonly Act[], error: string): ErrorFinding | undefined {
  const met = acts.flatMap((act) => {
    // A search for an error is not an error.
    if (act.type === "call" && isQuoted(act, error)) return [];
    const text = act.type === "call" ? (act.result?.output ?? "") : act.text;
    const line = lineWith(text, error);
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
    lineWith(next.result?.output ?? "", error) === undefined &&
    (isSameCommand(call, next) || isSameEdit(call, next));
  return {
    kind: "error",
    met: span,
    line: last.line,
    call,
    cleared: clearingOf(acts, last.act, isCleared),
  };
}

/** Reading a file or searching for the text shows the error without meeting it. */
function isQuoted({ effects, input, result }: Call, error: string): boolean {
  if (result?.failed === true) return false;
  const { commands, read } = effects;
  const looks = read.length > 0 || (commands.length > 0 && commands.every(isLookup));
  return looks || lineWith(input, error) !== undefined;
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
    success === null && said?.type === "said" ? { index: said.index, text: said.text } : null;
  if (success === null && edits.length === 0 && answer === null) return null;
  // Those right before the success fixed it; without one, those right after the error may have.
  const near = success === null ? edits.slice(0, MAX_EDITS) : edits.slice(-MAX_EDITS);
  return { edits: near, success, answer };
}

function worked({ result }: Call): boolean {
  return result?.failed === false;
}

function askedBefore(acts: readonly Act[], index: number): string | null {
  const said = acts.filter(
    (act) => act.type === "said" && act.role === "user" && act.index < index,
  );
  const last = said.at(-1);
  return last?.type === "said" ? last.text : null;
}

function callsOf(acts: readonly Act[]): readonly Call[] {
  return acts.filter((act) => act.type === "call");
}

function spanOf(acts: readonly Act[]): Span | null {
  const [first, last] = [acts[0], acts.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { first: first.index, last: last.index, times: acts.length };
}
