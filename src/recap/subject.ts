/** The subject of a trace, and its matching of calls and results. */

import type { TRACE_SUBJECTS } from "../model/inputs/choices.ts";
import { bareCommand } from "./bare-command.ts";
import type { Call } from "./read-acts.ts";

export interface Subject {
  readonly kind: (typeof TRACE_SUBJECTS)[number];
  readonly text: string;
}

/** The last parts of a path that are searched: earlier ones are common to a project's files. */
const PATH_PARTS = 2;

export function searchText({ kind, text }: Subject): string {
  if (kind !== "file") return text;
  return pathParts(text).slice(-PATH_PARTS).join("/");
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

function pathParts(path: string): string[] {
  return path.split(/[\\/]+/).filter((part) => part !== "" && part !== ".");
}

/** As a whole path, not part of another name. */
function mentions(command: string, path: string): boolean {
  const at = command.indexOf(path);
  if (at < 0) return false;
  const [before, after] = [command[at - 1] ?? " ", command[at + path.length] ?? " "];
  return !/[\w.-]/.test(before) && !/[\w-]/.test(after);
}

export function runsCommand({ effects }: Call, command: string): boolean {
  const wanted = squeeze(command);
  return effects.commands.some((each) => squeeze(each).includes(wanted));
}

export function isSameCommand(a: Call, b: Call): boolean {
  const [first] = a.effects.commands;
  if (first === undefined) return false;
  return b.effects.commands.some((each) => bareCommand(each) === bareCommand(first));
}

/** The line of `text` with `error`, ignoring case; undefined if none. */
export function lineWith(text: string, error: string): string | undefined {
  const wanted = squeeze(error).toLowerCase();
  const has = (part: string, words: string) => squeeze(part).toLowerCase().includes(words);
  if (!has(text, wanted)) return undefined;
  const lines = text.split("\n");
  // A multi-line error is matched by its first line.
  const [first = ""] = wanted.split(" ");
  return lines.find((line) => has(line, wanted)) ?? lines.find((line) => has(line, first));
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
