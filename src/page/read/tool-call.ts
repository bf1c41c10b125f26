/** The one-line form of a tool call, the diff of an edit, for the tool names of several agents; typed commands. Pure. */

import { MAIN_ARGUMENTS } from "../../model/display.ts";
import { type DiffLine, diffOf, patchLines } from "../difference/lines.ts";
import { withoutAnsi } from "../parts/words.ts";

const LINE = 160;

/** Whether foreign JSON has fields. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function parseInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    // The preview of a large input is truncated and may not parse.
    return {};
  }
}

export function callLine(input: Readonly<Record<string, unknown>>, json: string): string {
  const { pattern, path } = input;
  if (typeof pattern === "string" && typeof path === "string") {
    return oneLine(`${pattern} in ${path}`);
  }
  for (const field of MAIN_ARGUMENTS) {
    const value = input[field];
    const text = Array.isArray(value) ? value.map(wordOf).join(" ") : value;
    if (typeof text === "string" && text.trim() !== "") return oneLine(text);
  }
  const first = Object.values(input).find((value) => typeof value === "string" && value !== "");
  if (typeof first === "string") return oneLine(first);
  return json === "{}" ? "" : oneLine(json);
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function oneLine(text: string): string {
  const line = withoutAnsi(text.slice(0, LINE * 4))
    .trim()
    .replace(/\s+/g, " ");
  return line.length > LINE ? `${line.slice(0, LINE)}…` : line;
}

/** The diff of an edit; undefined for other calls. */
export function editOf(input: Readonly<Record<string, unknown>>): readonly DiffLine[] | undefined {
  const { edits, patch, input: text, content } = input;
  if (Array.isArray(edits)) {
    const parts = edits.flatMap((edit) => (isRecord(edit) && replaced(edit)) || []);
    if (parts.length > 0) return parts;
  }
  const single = replaced(input);
  if (single !== undefined) return single;
  const patched = [patch, text].find(
    (value): value is string =>
      typeof value === "string" && /^\*\*\* Begin Patch|^@@|^--- /m.test(value),
  );
  if (patched !== undefined) return patchLines(patched);
  const isFile = typeof input["file_path"] === "string" || typeof input["filePath"] === "string";
  return isFile && typeof content === "string" ? diffOf("", content) : undefined;
}

function replaced(edit: Readonly<Record<string, unknown>>): readonly DiffLine[] | undefined {
  const before = edit["old_string"] ?? edit["oldString"] ?? edit["old_str"];
  const after = edit["new_string"] ?? edit["newString"] ?? edit["new_str"];
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return diffOf(before, after);
}

/** The input as JSON, with line breaks in strings not escaped. */
export function readable(input: Readonly<Record<string, unknown>>, json: string): string {
  const entries = Object.entries(input);
  if (entries.length === 0) return json;
  return entries
    .map(([key, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
      return text?.includes("\n") ? `${key}:\n${text}` : `${key}: ${text}`;
    })
    .join("\n");
}

/**
 * Parses what Claude Code stores of a command that a person typed, a slash command or `!` with a
 * shell command, and of its output: elements instead of the typed line.
 */
interface TypedCommand {
  /** As typed: `/review src`, `! ls`; empty for an output alone. */
  readonly command: string;
  readonly output: string;
}

const START =
  /\s*<(command-name|command-message|command-args|bash-input|bash-stdout|bash-stderr|local-command-stdout|local-command-stderr)>/y;
const OUTPUTS = ["bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr"];

/** Undefined if the text has anything else, or elements of two commands. */
export function typedCommand(text: string): TypedCommand | undefined {
  const inputs = new Map<string, string>();
  const outputs: string[] = [];
  const end = text.trimEnd().length;
  // Each element starts where the one before it ends, so the text is read once.
  for (let at = 0; at < end; ) {
    START.lastIndex = at;
    const [start = "", name = ""] = START.exec(text) ?? [];
    const close = start === "" ? -1 : text.indexOf(`</${name}>`, at + start.length);
    if (close < 0 || inputs.has(name)) return undefined;
    const content = text.slice(at + start.length, close).trim();
    if (OUTPUTS.includes(name)) outputs.push(content);
    else inputs.set(name, content);
    at = close + name.length + "</>".length;
  }
  const [name = "", args = "", shell] = ["command-name", "command-args", "bash-input"].map((each) =>
    inputs.get(each),
  );
  const typed = `${name} ${args}`.trim();
  const isCommand = typed === "" ? shell !== undefined || outputs.length > 0 : shell === undefined;
  if (!isCommand) return undefined;
  return {
    command: shell === undefined || shell === "" ? typed : `! ${shell}`,
    output: outputs.filter((content) => content !== "").join("\n"),
  };
}
