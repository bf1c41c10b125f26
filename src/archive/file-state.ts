/** The remembered state of a file beside its offset. */

import type { FoundFile } from "../ingest/files/walk.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { IgnorableSession } from "./rules/ignoring-rule.ts";

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
