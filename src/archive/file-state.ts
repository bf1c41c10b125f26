/** The remembered state of a file beside its offset, and its companion files. */

import { stat } from "node:fs/promises";
import { sumFolder } from "../ingest/files/file-access.ts";
import { type FoundFile, mtimeUsOf } from "../ingest/files/walk.ts";
import type { TranscriptSource } from "../ingest/source.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { IgnorableSession } from "./rules/archive-rules.ts";

export interface FileState {
  /** The reader's resume state. */
  readonly reader?: JsonObject;
  /** The parent of the next entry, in a format without a tree. */
  readonly last?: string | null;
  /** The end of the hashed bytes, if after the offset: an unterminated last line was read. */
  readonly end?: number;
  /** The origin key of the file's only session. */
  readonly key?: string;
  /** The session of a file without messages. */
  readonly empty?: string;
  /** Of a file whose only session a rule keeps out: what the rule is looked up by again. */
  readonly ignored?: IgnorableSession;
}

/** Larger resume states are dropped; the file is then read whole. */
const MAX_STATE_BYTES = 256 * 1024;

export function formatState(state: FileState): string | null {
  const { reader: _, ...rest } = state;
  const text = [state, rest].map((each) => JSON.stringify(each)).find(isShort);
  return text === undefined || text === "{}" ? null : text;
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_STATE_BYTES;
}

export function parseState(text: string | null): FileState {
  const state: unknown = text === null ? {} : JSON.parse(text);
  return isPlainObject(state) ? (state as FileState) : {};
}

/**
 * Change detection by size and mtime: decides whether to read a file, and from which offset.
 *
 * A file of unchanged size and mtime is not opened: opening a hundred thousand files would take
 * minutes. A file that grew is read from the last offset if the hash of the bytes before it still
 * matches.
 */
export type ReadingPlan =
  | "unchanged"
  /** From the start. */
  | "whole"
  /** From the known offset, if the hash of the bytes before it matches. */
  | "rest"
  /** A rule still keeps its only session out. */
  | "ignored";

export function planReading(
  file: Pick<FoundFile, "size" | "mtimeUs">,
  known: IngestedFile | undefined,
  { force, unrecognised }: { readonly force: boolean; readonly unrecognised: string },
): ReadingPlan {
  if (known === undefined || force) return "whole";
  // This version may know more formats.
  if (isUnrecognised(known) && known.source !== unrecognised) return "whole";
  if (file.size === known.size && file.mtimeUs === known.mtimeUs) return "unchanged";
  const canResume = file.size > known.size && known.tailHash !== null;
  return canResume ? "rest" : "whole";
}

/** The source of a file's record if a rule keeps its only session out. */
export function ignoredSource(source: string): string {
  return `!${source}`;
}

export function isIgnored({ source }: Pick<IngestedFile, "source">): boolean {
  return source.startsWith("!");
}

/** Whether a file had no known format when it was last opened. */
export function isUnrecognised({ source }: Pick<IngestedFile, "source">): boolean {
  return source.startsWith("?");
}

/**
 * A longer path than a database's index accepts is not remembered, so its file is read each time.
 */
export const MAX_REMEMBERED_PATH = 2_000;

// Companion files of a transcript: the log of a database, a folder with a file per message. They
// change while the transcript itself does not, so their sizes and times are added to the
// transcript's for change detection.

/** Size and time of a file, or the sum of several. */
export type FileSum = Pick<FoundFile, "size" | "mtimeUs">;

const NOTHING: FileSum = { size: 0, mtimeUs: 0 };

/** The sum of the companions of `file`, if it is a transcript of `source`. */
export async function sumBeside(
  source: TranscriptSource | undefined,
  file: Pick<FoundFile, "path" | "root">,
): Promise<FileSum> {
  // New rows of a database are in its write-ahead log, while the file itself is unchanged.
  if (source?.container === "database") return sumFile(`${file.path}-wal`);
  let sum = NOTHING;
  for (const { folder, matches } of source?.companions?.(file.path) ?? []) {
    sum = addSums(sum, await sumFolder(file, folder, matches));
  }
  return sum;
}

export function addSums(a: FileSum, b: FileSum): FileSum {
  return { size: a.size + b.size, mtimeUs: Math.max(a.mtimeUs, b.mtimeUs) };
}

async function sumFile(path: string): Promise<FileSum> {
  try {
    const facts = await stat(path);
    return { size: facts.size, mtimeUs: mtimeUsOf(facts) };
  } catch {
    // Missing.
    return NOTHING;
  }
}
