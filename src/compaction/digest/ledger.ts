/**
 * The ledger: commands run and files read or changed, verbatim.
 *
 * It is bounded; dropped old items are counted.
 */

import { inputTextOf, type ToolResultBlock, type ToolUseBlock } from "../../model/block.ts";
import type { Ledger, LedgerCommand, LedgerFile } from "../summary.ts";
import { cutText } from "./cut-text.ts";
import { type ToolEffects, toolEffects } from "./tool-effects.ts";

export const MAX_COMMANDS = 200;
export const MAX_COMMAND_CHARACTERS = 500;
/** Read and changed together. */
export const MAX_FILES = 300;
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
