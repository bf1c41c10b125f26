/** The subject of a trace, and its matching of calls and results. */

import type { TRACE_SUBJECTS } from "../model/inputs/choices.ts";
import { type RunFinder, runFinder, type TextRun } from "../search/text/text-run.ts";
import { bareCommand } from "./bare-command.ts";
import type { Call } from "./read-acts.ts";

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

export type Touch = "changed" | "read" | "command";

/** How a call touched a file; undefined if it did not. */
export function touchOf({ effects }: Call, path: string): Touch | undefined {
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

export function runsCommand({ effects }: Call, find: RunFinder): boolean {
  return effects.commands.some((each) => find(each) !== undefined);
}

export function isSameCommand(a: Call, b: Call): boolean {
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
