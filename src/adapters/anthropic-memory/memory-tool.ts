/**
 * A backend of Anthropic's memory tool (`memory_20250818`): files below `/memories` that a model
 * views and edits, stored as records of a tenant.
 *
 * Every command answers with text; a refused one answers with the reason, for the model to read.
 * Only failures of the store are thrown.
 */

import type { TenantApi } from "../../engine/interfaces.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { DEFAULT_HITS } from "../../model/limits.ts";
import { checkTenant } from "../common/sessions.ts";
import {
  type MemoryFile,
  MemoryFiles,
  type MemoryFileVersion,
  Refusal,
  toInnerPath,
  toOuterPath,
} from "./files.ts";

/**
 * The answers of the commands, as the memory tool's documentation words them.
 *
 * Files and folders as `view` of a folder lists them.
 */
interface Listed {
  /** As the model knows it; a folder's ends with a slash. */
  readonly path: string;
  readonly bytes: number;
}

const MAX_LINES = 999_999;
const NUMBER_WIDTH = String(MAX_LINES).length;

const noSuchPath = (path: string): string =>
  `The path ${path} does not exist. Please provide a valid path.`;

function folderView(path: string, bytes: number, items: readonly Listed[]): string {
  const head = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;
  const lines = [{ path, bytes }, ...items].map((item) => `${sizeOf(item.bytes)}\t${item.path}`);
  return [head, ...lines].join("\n");
}

/** `range` is the first and the last line, from 1; -1 stands for the end. */
function fileView(path: string, content: string, range: readonly number[] | undefined): string {
  const lines = content.split("\n");
  const [first = 1, last = -1] = range ?? [];
  const from = Math.max(1, first);
  const shown = lines.slice(from - 1, last === -1 ? undefined : last);
  return `Here's the content of ${path} with line numbers:\n${numbered(shown, from)}`;
}

/** The lines around the changed one, which is counted from 0. */
function editedSnippet(content: string, line: number): string {
  const from = Math.max(0, line - 2);
  const shown = content.split("\n").slice(from, line + 3);
  const head =
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
  return `${head}\n${numbered(shown, from + 1)}`;
}

function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${String(first + i).padStart(NUMBER_WIDTH)}\t${line}`).join("\n");
}

/** As `du -h` has it: `0B`, `512B`, `1.5K`. */
function sizeOf(bytes: number): string {
  const units = ["B", "K", "M", "G"];
  let size = bytes;
  let unit = 0;
  while (size >= 1_024 && unit < units.length - 1) {
    size /= 1_024;
    unit++;
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[unit]}`;
}

export interface ViewCommand {
  readonly command: "view";
  readonly path: string;
  readonly view_range?: readonly number[];
}

export interface CreateCommand {
  readonly command: "create";
  readonly path: string;
  readonly file_text: string;
}

export interface StrReplaceCommand {
  readonly command: "str_replace";
  readonly path: string;
  readonly old_str: string;
  readonly new_str: string;
}

export interface InsertCommand {
  readonly command: "insert";
  readonly path: string;
  /** The line after which the text goes; 0: at the start. */
  readonly insert_line: number;
  readonly insert_text: string;
}

export interface DeleteCommand {
  readonly command: "delete";
  readonly path: string;
}

export interface RenameCommand {
  readonly command: "rename";
  readonly old_path: string;
  readonly new_path: string;
}

export type MemoryCommand =
  | ViewCommand
  | CreateCommand
  | StrReplaceCommand
  | InsertCommand
  | DeleteCommand
  | RenameCommand;

export interface MemoryToolOptions {
  /**
   * The namespace of the files, such as `users/ana`. Default: `memories`. The model cannot leave
   * it.
   */
  readonly namespace?: string;
  /** Earlier versions to keep of each file: at most 400; 0: none. Default: 20. */
  readonly history?: number;
}

/** The handlers of `betaMemoryTool` of Anthropic's SDK, and calls for the host. */
export interface AnthropicMemory {
  readonly view: (command: ViewCommand) => Promise<string>;
  readonly create: (command: CreateCommand) => Promise<string>;
  readonly str_replace: (command: StrReplaceCommand) => Promise<string>;
  readonly insert: (command: InsertCommand) => Promise<string>;
  readonly delete: (command: DeleteCommand) => Promise<string>;
  readonly rename: (command: RenameCommand) => Promise<string>;
  /** Executes the input of a `tool_use` block, which is validated here. */
  readonly execute: (input: unknown) => Promise<string>;
  /** The files that match best. `limit`: default 10, at most 20. */
  readonly search: (query: string, limit?: number) => Promise<readonly MemoryFile[]>;
  /** The earlier versions of a file, the newest first; also of a deleted one. */
  readonly history: (path: string) => Promise<readonly MemoryFileVersion[]>;
}

const DEFAULT_HISTORY = 20;
const MAX_HISTORY = 400;

export function anthropicMemory(
  tenant: TenantApi,
  options: MemoryToolOptions = {},
): AnthropicMemory {
  const { namespace = "memories", history = DEFAULT_HISTORY } = checkFields(
    options,
    "options",
    INPUTS.anthropicMemory,
  );
  checkTenant(tenant);
  if (history > MAX_HISTORY) {
    const message = `history must be a whole number from 0 to ${MAX_HISTORY}`;
    throw new BackscrollError("invalid_input", message, { details: { field: "history" } });
  }
  const files = new MemoryFiles(tenant.records, namespace, history);
  const commands = {
    view: answered((command: ViewCommand) => view(files, command)),
    create: answered((command: CreateCommand) => create(files, command)),
    str_replace: answered((command: StrReplaceCommand) => replace(files, command)),
    insert: answered((command: InsertCommand) => insert(files, command)),
    delete: answered((command: DeleteCommand) => remove(files, command)),
    rename: answered((command: RenameCommand) => rename(files, command)),
  };
  return {
    ...commands,
    async execute(input) {
      const { command } = (input ?? {}) as { readonly command?: keyof typeof commands };
      if (command !== undefined && Object.hasOwn(commands, command)) {
        return commands[command](input as never);
      }
      const known = Object.keys(commands).join(", ");
      return `Error: Unknown command ${JSON.stringify(command)}. Use one of ${known}`;
    },
    search: (query, limit = DEFAULT_HITS) => files.search(query, limit),
    history: async (path) => files.historyOf(toInnerPath(path)),
  };
}

async function view(files: MemoryFiles, { path, view_range: range }: ViewCommand): Promise<string> {
  const inner = toInnerPath(path);
  const file = await files.find(inner);
  if (file !== undefined) {
    if (file.content.split("\n").length > MAX_LINES) {
      return `File ${path} exceeds maximum line limit of ${MAX_LINES.toLocaleString("en")} lines.`;
    }
    const isRange = range === undefined || (Array.isArray(range) && range.every(Number.isInteger));
    return isRange
      ? fileView(path, file.content, range)
      : "Error: view_range must be two whole numbers: the first and the last line";
  }
  const below = await files.listBelow(inner);
  if (below.length === 0 && inner !== "") return noSuchPath(path);
  const outer = toOuterPath(inner);
  const all = below.map((each) => ({
    ...each,
    path: each.path.slice(inner === "" ? 0 : inner.length + 1),
  }));
  const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
  return folderView(outer, bytes, twoLevels(outer, all));
}

/** Files and folders in the order of their paths, each folder before its contents. */
function twoLevels(
  outer: string,
  files: readonly { readonly path: string; readonly bytes: number }[],
): readonly Listed[] {
  const items = new Map<string, number>();
  for (const { path, bytes } of files) {
    const segments = path.split("/");
    if (segments.some((segment) => segment.startsWith(".") || segment === "node_modules")) continue;
    for (let depth = 1; depth <= Math.min(2, segments.length); depth++) {
      const isFolder = depth < segments.length;
      const name = `${segments.slice(0, depth).join("/")}${isFolder ? "/" : ""}`;
      items.set(name, (items.get(name) ?? 0) + bytes);
    }
  }
  return [...items]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, bytes]) => ({ path: `${outer}/${name}`, bytes }));
}

async function create(
  files: MemoryFiles,
  { path, file_text: text }: CreateCommand,
): Promise<string> {
  const inner = toInnerPath(path);
  const content = checkText(text, "file_text");
  if (inner === "" || (await files.listBelow(inner)).length > 0) {
    return `Error: File ${path} already exists`;
  }
  await checkFolders(files, inner);
  const isNew = await files.create(inner, content);
  return isNew ? `File created successfully at: ${path}` : `Error: File ${path} already exists`;
}

async function replace(files: MemoryFiles, command: StrReplaceCommand): Promise<string> {
  const { path } = command;
  const from = checkText(command.old_str, "old_str");
  const to = checkText(command.new_str ?? "", "new_str");
  if (from === "") return "Error: old_str must not be empty";
  const edited = await files.edit(toInnerPath(path), (content) => {
    const lines = linesWith(content, from);
    if (lines.length === 0) {
      throw new Refusal(
        `No replacement was performed, old_str \`${from}\` did not appear verbatim in ${path}.`,
      );
    }
    if (lines.length > 1) {
      throw new Refusal(
        `No replacement was performed. Multiple occurrences of old_str \`${from}\` in lines: ${lines.join(", ")}. Please ensure it is unique`,
      );
    }
    return { content: content.replace(from, () => to), line: (lines[0] as number) - 1 };
  });
  if (edited === undefined) return `Error: ${noSuchPath(path)}`;
  return editedSnippet(edited.content, edited.line);
}

/** The lines, from 1, in which `text` begins: one for each place. */
function linesWith(content: string, text: string): number[] {
  const lines: number[] = [];
  for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
    lines.push(content.slice(0, at).split("\n").length);
  }
  return lines;
}

async function insert(files: MemoryFiles, command: InsertCommand): Promise<string> {
  const { path, insert_line: after } = command;
  const text = checkText(command.insert_text, "insert_text");
  const edited = await files.edit(toInnerPath(path), (content) => {
    const lines = content.split("\n");
    if (!Number.isInteger(after) || after < 0 || after > lines.length) {
      throw new Refusal(
        `Error: Invalid \`insert_line\` parameter: ${after}. It should be within the range of lines of the file: [0, ${lines.length}]`,
      );
    }
    lines.splice(after, 0, text.replace(/\n$/, ""));
    return { content: lines.join("\n") };
  });
  return edited === undefined
    ? `Error: The path ${path} does not exist`
    : `The file ${path} has been edited.`;
}

async function remove(files: MemoryFiles, { path }: DeleteCommand): Promise<string> {
  const inner = toInnerPath(path);
  if (inner === "") return `Error: The directory ${path} itself cannot be deleted`;
  return (await files.delete(inner))
    ? `Successfully deleted ${path}`
    : `Error: The path ${path} does not exist`;
}

async function rename(files: MemoryFiles, command: RenameCommand): Promise<string> {
  const { old_path: from, new_path: to } = command;
  const [inner, target] = [toInnerPath(from), toInnerPath(to)];
  if (inner === "") return `Error: The directory ${from} itself cannot be renamed`;
  if (target === "" || target === inner) return `Error: The destination ${to} already exists`;
  if (target.startsWith(`${inner}/`)) return `Error: ${to} is inside of ${from}`;
  await checkFolders(files, target);
  switch (await files.rename(inner, target)) {
    case "done":
      return `Successfully renamed ${from} to ${to}`;
    case "missing":
      return `Error: The path ${from} does not exist`;
    case "taken":
      return `Error: The destination ${to} already exists`;
  }
}

/** Refuses a path below a file. */
async function checkFolders(files: MemoryFiles, inner: string): Promise<void> {
  const segments = inner.split("/");
  for (let depth = 1; depth < segments.length; depth++) {
    const folder = segments.slice(0, depth).join("/");
    if ((await files.find(folder)) === undefined) continue;
    throw new Refusal(`Error: ${toOuterPath(folder)} is a file and no directory`);
  }
}

function checkText(text: unknown, field: string): string {
  if (typeof text === "string") return text;
  throw new Refusal(`Error: ${field} must be a string`);
}

/** Refusals and invalid inputs become answers for the model; failures of the store are thrown. */
function answered<Command>(
  run: (command: Command) => Promise<string>,
): (command: Command) => Promise<string> {
  const OF_INPUT = ["invalid_input", "too_large", "quota_exceeded", "record_conflict"] as const;
  return async (command) => {
    try {
      return await run(command);
    } catch (error) {
      if (error instanceof Refusal) return error.message;
      if (OF_INPUT.some((code) => BackscrollError.is(error, code))) {
        return `Error: ${(error as Error).message}`;
      }
      throw error;
    }
  };
}
