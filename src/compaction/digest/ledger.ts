/**
 * The ledger: commands run and files read or changed, verbatim.
 *
 * It is bounded; dropped old items are counted.
 */

import { inputTextOf, type ToolResultBlock, type ToolUseBlock } from "../../model/block.ts";
import type { Ledger, LedgerCommand, LedgerFile } from "../summary.ts";
import { cutText } from "./timeline.ts";

const MAX_COMMANDS = 200;
const MAX_COMMAND_CHARACTERS = 500;
/** Read and changed together. */
const MAX_FILES = 300;
/** Files that were only read are dropped first, down to this many. */
const MIN_FILES_READ = 100;
/** The limit of open calls; real transcripts have fewer. */
const MAX_OPEN_CALLS = 1_000;

/** A ledger under construction. */
export interface LedgerDraft {
  readonly commands: CommandDraft[];
  earlierCommands: number;
  /** By path, the last touched at the end. */
  readonly read: Map<string, LedgerFile>;
  readonly changed: Map<string, LedgerFile>;
  earlierFiles: number;
  /** Calls without results yet, by id. */
  readonly open: Map<string, OpenCall>;
}

interface OpenCall {
  readonly name: string;
  readonly entryId: string;
  readonly effects: ToolEffects;
  readonly commands: readonly CommandDraft[];
}

interface CommandDraft {
  readonly text: string;
  readonly entryId: string;
  failed?: boolean;
}

export function startLedger(previous: Ledger | null): LedgerDraft {
  const byPath = (files: readonly LedgerFile[] = []) =>
    new Map(files.map((file) => [file.path, file]));
  return {
    commands: previous?.commands.map((command) => ({ ...command })) ?? [],
    earlierCommands: previous?.earlierCommands ?? 0,
    read: byPath(previous?.filesRead),
    changed: byPath(previous?.filesChanged),
    earlierFiles: previous?.earlierFiles ?? 0,
    open: new Map(),
  };
}

export function recordCall(draft: LedgerDraft, entryId: string, call: ToolUseBlock): void {
  const effects = toolEffects(call.name, inputTextOf(call));
  const commands = effects.commands.map(
    (command): CommandDraft => ({
      text: cutText(command, MAX_COMMAND_CHARACTERS),
      entryId,
    }),
  );
  draft.commands.push(...commands);
  dropOldest(draft);
  settle(draft, call.id);
  draft.open.set(call.id, { name: call.name, entryId, effects, commands });
  const [oldest] = draft.open.keys();
  if (draft.open.size > MAX_OPEN_CALLS && oldest !== undefined) settle(draft, oldest);
}

/** Records a command's outcome; a file counts as touched only if the call succeeded. */
export function recordResult(draft: LedgerDraft, result: ToolResultBlock): void {
  const call = draft.open.get(result.toolUseId);
  if (call === undefined) return;
  for (const command of call.commands) command.failed = result.isError;
  if (result.isError) draft.open.delete(result.toolUseId);
  else settle(draft, result.toolUseId);
}

/** The tool name of an open call. */
export function openToolName(draft: LedgerDraft, toolUseId: string): string | undefined {
  return draft.open.get(toolUseId)?.name;
}

/** A call without a result may have had its effect: its files count as touched. */
export function finishLedger(draft: LedgerDraft): Ledger {
  for (const id of [...draft.open.keys()]) settle(draft, id);
  return {
    commands: draft.commands.map((command): LedgerCommand => ({ ...command })),
    earlierCommands: draft.earlierCommands,
    filesRead: [...draft.read.values()],
    filesChanged: [...draft.changed.values()],
    earlierFiles: draft.earlierFiles,
  };
}

/** Joins two consecutive ledgers. */
export function joinLedgers(earlier: Ledger, later: Ledger): Ledger {
  const draft = startLedger(earlier);
  draft.commands.push(...later.commands.map((command) => ({ ...command })));
  draft.earlierCommands += later.earlierCommands;
  draft.earlierFiles += later.earlierFiles;
  for (const file of later.filesRead) touch(draft.read, file.path, file.entryId, file.times);
  for (const file of later.filesChanged) touch(draft.changed, file.path, file.entryId, file.times);
  dropOldest(draft);
  return finishLedger(draft);
}

function settle(draft: LedgerDraft, id: string): void {
  const call = draft.open.get(id);
  if (call === undefined) return;
  draft.open.delete(id);
  for (const path of call.effects.read) touch(draft.read, path, call.entryId);
  for (const path of call.effects.changed) touch(draft.changed, path, call.entryId);
  dropOldest(draft);
}

/** Drops and counts items over the bounds. */
function dropOldest(draft: LedgerDraft): void {
  while (draft.commands.length > MAX_COMMANDS) {
    draft.commands.shift();
    draft.earlierCommands++;
  }
  while (draft.read.size + draft.changed.size > MAX_FILES) {
    const files = draft.read.size > MIN_FILES_READ ? draft.read : draft.changed;
    const [oldest] = files.keys();
    files.delete(oldest as string);
    draft.earlierFiles++;
  }
}

function touch(files: Map<string, LedgerFile>, path: string, entryId: string, more = 1): void {
  const times = (files.get(path)?.times ?? 0) + more;
  files.delete(path);
  files.set(path, { path: path.toWellFormed(), entryId, times });
}

/**
 * The effects of a tool call, from its name and arguments: commands run, files read or changed.
 *
 * Agents name the same tools differently, and a model's arguments may be incomplete JSON. Unknown
 * tools and arguments have no effects; never throws.
 */
export interface ToolEffects {
  readonly commands: readonly string[];
  readonly read: readonly string[];
  readonly changed: readonly string[];
}

const NO_EFFECTS: ToolEffects = { commands: [], read: [], changed: [] };

const SHELLS = new Set(
  `bash shell sh zsh powershell pwsh terminal exec execute exec_command shell_command local_shell
  local_shell_call execute_command execute_bash run_command run_bash run_shell run_shell_command
  run_terminal_cmd run_terminal_command run_in_terminal bash_tool shell_exec`.split(/\s+/),
);
const READERS = new Set(
  `read read_file readfile view view_file view_image open_file cat get_file get_file_contents
  read_many_files read_files fs_read notebookread read_notebook`.split(/\s+/),
);
const WRITERS = new Set(
  `write edit multiedit multi_edit notebookedit edit_notebook write_file writefile edit_file editfile
  create_file createfile write_to_file append_file update_file delete_file replace_in_file
  search_replace str_replace replace replace_string_in_file insert_edit_into_file strreplacefile
  multi_replace_string_in_file insert_content file_write file_edit fs_write`.split(/\s+/),
);
const PATCHERS = new Set(["apply_patch", "applypatch", "apply_diff", "patch"]);
/** One tool for reading and writing; its `command` decides. */
const EDITORS = new Set(["str_replace_editor", "str_replace_based_edit_tool", "text_editor"]);

const COMMAND_FIELDS = ["command", "cmd", "script", "commandline", "argv"];
const PATH_FIELDS =
  `path file_path filePath filepath notebook_path notebookPath target_file targetFile
  absolute_path absolutePath file filename fileName`.split(/\s+/);
const PATH_LISTS = ["paths", "file_paths", "filePaths", "files"];
const PATCH_FIELDS = ["patch", "input", "diff", "content"];

/** Longer ones are not paths. */
const MAX_PATH_LENGTH = 512;
const MAX_PATHS_A_CALL = 100;

export function toolEffects(name: string, input: string): ToolEffects {
  const tool = plainName(name);
  if (SHELLS.has(tool)) return shellEffects(parse(input), input);
  if (PATCHERS.has(tool)) return patchEffects(parse(input), input);
  if (READERS.has(tool)) return { ...NO_EFFECTS, read: pathsOf(parse(input)) };
  if (WRITERS.has(tool)) return { ...NO_EFFECTS, changed: pathsOf(parse(input)) };
  if (EDITORS.has(tool)) {
    const parsed = parse(input);
    const paths = pathsOf(parsed);
    return field(parsed, "command") === "view"
      ? { ...NO_EFFECTS, read: paths }
      : { ...NO_EFFECTS, changed: paths };
  }
  return NO_EFFECTS;
}

/** The name without its server or namespace: `mcp__files__Read` is `read`. */
function plainName(name: string): string {
  return (name.split(/__|[.:/]/).at(-1) ?? name).toLowerCase().replaceAll("-", "_");
}

function shellEffects(parsed: unknown, input: string): ToolEffects {
  const command = commandOf(parsed) ?? (parsed === undefined ? bareText(input) : undefined);
  if (command === undefined || command.trim() === "") return NO_EFFECTS;
  const changed = command.includes("*** Begin Patch") ? patchedFiles(command) : [];
  return { commands: [command], read: [], changed: changed.filter(isPath) };
}

function patchEffects(parsed: unknown, input: string): ToolEffects {
  const texts = PATCH_FIELDS.map((name) => field(parsed, name));
  const patch =
    typeof parsed === "string" ? parsed : texts.find((text) => typeof text === "string");
  const inside = patchedFiles(typeof patch === "string" ? patch : input).filter(isPath);
  const changed = inside.length > 0 ? inside : pathsOf(parsed);
  return { ...NO_EFFECTS, changed: changed.slice(0, MAX_PATHS_A_CALL) };
}

function commandOf(parsed: unknown): string | undefined {
  if (typeof parsed === "string") return parsed;
  if (Array.isArray(parsed)) return fromWords(parsed);
  for (const name of COMMAND_FIELDS) {
    const value = field(parsed, name);
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return fromWords(value);
  }
  // OpenAI's local shell nests its arguments.
  const action = field(parsed, "action");
  return typeof action === "object" && action !== null
    ? commandOf({ ...action, action: null })
    : undefined;
}

/** A command's words as a shell line. Of `bash -lc TEXT`, the text. */
function fromWords(words: readonly unknown[]): string | undefined {
  if (words.length === 0 || !words.every((word) => typeof word === "string")) return undefined;
  const [shell = "", flag = "", script] = words;
  const isWrapped = /(^|[/\\])(ba|z|da|k)?sh(\.exe)?$/.test(shell) && /^-\w*c$/.test(flag);
  if (isWrapped && words.length === 3 && script !== undefined) return script;
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}

/** Arguments that do not look like JSON are the command itself. */
function bareText(input: string): string | undefined {
  return /^\s*[{["]/.test(input) ? undefined : input.trim();
}

function pathsOf(parsed: unknown): string[] {
  const single = PATH_FIELDS.map((name) => field(parsed, name));
  const lists = PATH_LISTS.flatMap((name) => {
    const value = field(parsed, name);
    return Array.isArray(value) ? value.slice(0, MAX_PATHS_A_CALL) : [];
  });
  const nested = lists.map((member) =>
    typeof member === "string" ? member : field(member, "path"),
  );
  return [...new Set([...single, ...nested].filter(isPath))];
}

function isPath(value: unknown): value is string {
  if (typeof value !== "string" || value.length > MAX_PATH_LENGTH) return false;
  return value.trim() !== "" && !/[\n\r]/.test(value);
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function parse(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    // Models write incomplete JSON.
    return undefined;
  }
}

/**
 * The files named in a patch: `apply_patch` format or unified diff.
 *
 * In patch order, each once.
 */
function patchedFiles(patch: string): string[] {
  const files = new Set<string>();
  const lines = patch.split(/\r?\n/);
  lines.forEach((line, i) => {
    const named = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/.exec(line)?.[1];
    if (named !== undefined) files.add(named.trim());
    // A removed line can look like half a header, but hardly like a whole one.
    const next = lines[i + 1] ?? "";
    if (line.startsWith("--- ") && next.startsWith("+++ ")) {
      files.add(diffName(next) ?? diffName(line) ?? "");
    }
  });
  files.delete("");
  return [...files];
}

/** The file of a header line; undefined if that side has none. */
function diffName(header: string): string | undefined {
  const name = header.slice(4).split("\t")[0]?.trim() ?? "";
  return name === "/dev/null" ? undefined : name.replace(/^[ab]\//, "");
}
