/**
 * The lines that a tool call adds to files and removes from them: of edits, writes, patches and
 * here-documents, and the subjects of its commits.
 *
 * Agents name the same fields differently, so a call is read by its fields: whatever has a path and a
 * new text is a change. Of an edit, lines that both texts have are neither added nor removed.
 */

import { toolEffects } from "../../compaction/digest/ledger.ts";

export interface LineChange {
  /** As the agent gave it; "" if a command does not say. */
  readonly path: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface ChangedLines {
  readonly changes: readonly LineChange[];
  /** The first lines of the messages with which it commits. */
  readonly subjects: readonly string[];
}

const NOTHING: ChangedLines = { changes: [], subjects: [] };

/** Never throws: a model's arguments may be incomplete JSON. */
export function changedLines(tool: string, input: string): ChangedLines {
  const { changed, commands } = toolEffects(tool, input);
  if (commands.length > 0) return ofCommands(commands);
  if (changed.length === 0) return NOTHING;
  const value = parsed(input);
  const changes = typeof value === "object" ? editsIn(value, changed[0] ?? "", 0) : [];
  return changes.length > 0 ? { changes, subjects: [] } : { ...NOTHING, changes: inPatch(input) };
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const PATHS = ["file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path"];
const OLD = names("old_string oldString old_str oldStr old_text oldText old search");
const NEW = names(
  `new_string newString new_str newStr new_text newText new replace replacement new_source content
  contents file_text fileText code_edit insert_text text`,
);
const PATCHES = ["patch", "diff", "input"];
/** Lists of edits in a list of files are the deepest that agents send. */
const MAX_DEPTH = 4;

function editsIn(value: unknown, path: string, depth: number): LineChange[] {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((each) => editsIn(each, path, depth + 1));
  const own = textOf(value, PATHS) ?? path;
  const patch = textOf(value, PATCHES);
  if (patch !== undefined) return inPatch(patch, own);
  const [before, after] = [textOf(value, OLD), textOf(value, NEW)];
  if (before !== undefined || after !== undefined) return [difference(own, before, after)];
  return Object.values(value).flatMap((each) => editsIn(each, own, depth + 1));
}

function textOf(value: object, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const text = (value as Readonly<Record<string, unknown>>)[field];
    if (typeof text === "string") return text;
  }
  return undefined;
}

function difference(path: string, before = "", after = ""): LineChange {
  const added = after.split("\n");
  const removed: string[] = [];
  const kept = new Map<string, number>();
  for (const line of added) kept.set(line.trim(), (kept.get(line.trim()) ?? 0) + 1);
  for (const line of before === "" ? [] : before.split("\n")) {
    const left = kept.get(line.trim()) ?? 0;
    if (left === 0) removed.push(line);
    else kept.set(line.trim(), left - 1);
  }
  const isNew = (line: string) => {
    const left = kept.get(line.trim()) ?? 0;
    if (left > 0) kept.set(line.trim(), left - 1);
    return left > 0;
  };
  return { path, added: added.filter(isNew), removed };
}

/** A patch in the format of `apply_patch`, a unified difference, or blocks to search and replace. */
function inPatch(patch: string, path = ""): LineChange[] {
  const changes: { path: string; added: string[]; removed: string[] }[] = [];
  let now = { path, added: [] as string[], removed: [] as string[] };
  let side: "added" | "removed" | undefined;
  const begin = (name: string) => {
    now = { path: name, added: [], removed: [] };
    changes.push(now);
  };
  changes.push(now);
  for (const line of patch.split(/\r?\n/)) {
    const named = /^(?:\*\*\* (?:Add File|Update File|Move to): |\+\+\+ (?:b\/)?)(.+)$/.exec(line);
    if (named?.[1] !== undefined) begin(named[1].trim());
    else if (/^(?:<{5,9}|-{5,9}) ?SEARCH/.test(line)) side = "removed";
    else if (side !== undefined && /^={5,9}$/.test(line)) side = "added";
    else if (/^(?:>{5,9}|\+{5,9}) ?REPLACE/.test(line)) side = undefined;
    else if (side !== undefined) now[side].push(line);
    else if (line.startsWith("+")) now.added.push(line.slice(1));
    else if (line.startsWith("-") && !line.startsWith("--- ")) now.removed.push(line.slice(1));
  }
  return changes.filter(({ added, removed }) => added.length + removed.length > 0);
}

const HERE = /<<-?\s*["']?(\w+)["']?/;
const COMMITS = /\bgit\s(?:\S{1,200}\s){0,6}?commit\b/;
const MESSAGE = /\s(?:-[a-z]*m|--message)[\s=]*(?:"((?:[^"\\]|\\.)*)|'([^']*))/;

function ofCommands(commands: readonly string[]): ChangedLines {
  const changes: LineChange[] = [];
  const subjects: string[] = [];
  for (const command of commands) {
    const rest = withoutHereDocuments(command, (opening, body) => {
      if (COMMITS.test(opening)) subjects.push(firstLine(body));
      else if (/^(?:\*\*\* Begin Patch|--- |diff --git )/m.test(body)) {
        changes.push(...inPatch(body));
      } else changes.push({ path: writtenFile(opening), added: body.split("\n"), removed: [] });
    });
    for (const part of COMMITS.test(rest) ? rest.split(/&&|\|\||;/) : []) {
      const [, quoted, plain] = COMMITS.test(part) ? (MESSAGE.exec(part) ?? []) : [];
      const message = quoted?.replace(/\\(["\\$`])/g, "$1") ?? plain ?? "";
      if (!message.startsWith("$(")) subjects.push(firstLine(message));
    }
  }
  return { changes, subjects: subjects.filter((subject) => subject !== "") };
}

/** The command without its here-documents, each of which is told with the line that opens it. */
function withoutHereDocuments(
  command: string,
  tell: (opening: string, body: string) => void,
): string {
  const kept: string[] = [];
  const lines = command.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    kept.push(line);
    const end = HERE.exec(line)?.[1];
    if (end === undefined) continue;
    let to = i + 1;
    while (to < lines.length && lines[to]?.trim() !== end) to++;
    if (to === lines.length) return kept.concat(lines.slice(i + 1)).join("\n");
    tell(line, lines.slice(i + 1, to).join("\n"));
    i = to;
  }
  return kept.join("\n");
}

function writtenFile(opening: string): string {
  return /(?:>>?\s*|\btee\s+(?:-a\s+)?)["']?([^\s"'<>&|;]+)/.exec(opening)?.[1] ?? "";
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.trim() ?? "";
}

function names(text: string): readonly string[] {
  return text.split(/\s+/);
}
