/**
 * The port of a transcript format: what a reader of another agent's session files must do.
 *
 * Foreign data is untrusted and often damaged. A reader never throws because of it: it gives what it
 * understood, and says of every line that it did not understand where and why. It works on lines as
 * they come, so that a file of any size takes no more memory than its longest line and its ids.
 */

import type { Block } from "../model/block.ts";
import type { EntryKind, Role, Usage } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import type { Line } from "./lines.ts";
import type { ProblemLog } from "./problems.ts";

export interface TranscriptSource {
  /** What users call the format, such as `pi`. */
  readonly name: string;
  /** Whether a file that begins with `head` is of this format. `head` may end anywhere. */
  recognise(head: Uint8Array, path: string): boolean;
  /** Reads nothing until `sessions` is iterated. */
  read(input: SourceInput): ImportedTranscript;
}

export interface SourceInput {
  /** Empty for what comes through a pipe. */
  readonly path: string;
  readonly lines: AsyncIterable<Line>;
}

export interface ImportedTranscript {
  /** One at a time: read the entries of one before you ask for the next. */
  readonly sessions: AsyncIterable<ImportedSession>;
  /** Complete once everything has been read. */
  readonly problems: ProblemLog;
}

export interface ImportedSession {
  /** The name of the source that read it. */
  readonly source: string;
  readonly agent: string;
  /** The session's id in its own world; null if the format gives it none. */
  readonly id: string | null;
  readonly title: string | null;
  /** The folder in which the agent worked. */
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly startedAt: number | null;
  /** What the format says of the session that this one was made from: an id or a path. */
  readonly parentSession: string | null;
  /** `source` holds what the format says and we have no field for. */
  readonly metadata: JsonObject;
  readonly entries: AsyncIterable<ImportedEntry>;
  /** To be asked when the entries are read: the leaf, where it is not the last that moved it. */
  readonly leaf?: () => string | null | undefined;
  /** The log that whoever stores the session adds to. */
  readonly problems: ProblemLog;
}

export interface ImportedEntry {
  /** Unique in its session, and the same whenever the file is read. */
  readonly sourceId: string;
  /**
   * The source id of an entry that was given before and moves the leaf; null for a new start; absent
   * in formats without a tree, where an entry follows what is there.
   */
  readonly parentSourceId?: string | null;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly blocks: readonly Block[];
  readonly data: JsonObject | null;
  /** The fields of `data` that hold source ids, to be replaced by ours. */
  readonly references?: readonly string[];
  readonly usage: Usage | null;
  readonly model: string | null;
  /** Null if the format does not say. */
  readonly createdAt: number | null;
  readonly metadata: JsonObject;
}
