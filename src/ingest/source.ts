/**
 * The port of a transcript format: reads another agent's session files.
 *
 * Foreign data is untrusted and often damaged. A reader never throws because of it: it yields what
 * it understands, and reports every other line with its place and reason. It streams lines with
 * bounded state, so memory does not grow with the file.
 */

import type { Block } from "../model/block.ts";
import type { EntryKind, Role, Usage } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import type { Line } from "./lines.ts";
import type { ProblemLog } from "./problems.ts";

export interface TranscriptSource {
  /** The users' name of the format, such as `pi`. */
  readonly name: string;
  /**
   * The reader's version. Default 1. Incremented when the reader finds more in the same bytes, so
   * that sessions are derived again from the kept originals.
   */
  readonly version?: number;
  /** The agent's folders on a machine, which need not exist. No I/O. */
  places?(environment: Environment): readonly Place[];
  /** The agent's own notes: Markdown files in a folder per project. */
  notes?(environment: Environment): readonly NotePlace[];
  /** Whether a file that begins with `head` has this format. `head` may end anywhere. */
  recognise(head: Uint8Array, path: string): boolean;
  /**
   * `lines` (the default): the file is handed over line by line. `database`: the reader opens `path`
   * itself, read-only; `lines` is empty.
   */
  readonly container?: "lines" | "database";
  /**
   * Whether single lines are not JSON values: the file is text, or one JSON value over many lines.
   * Then the last line is passed on as it is. Otherwise an incomplete last line is held back.
   */
  isText?(path: string): boolean;
  /** Files beside a transcript that are parts of it: their changes are changes of it. */
  companions?(path: string): readonly Companions[];
  /** Lazy: reads when `sessions` is iterated. */
  read(input: SourceInput): ImportedTranscript;
  /** The command that opens a session in its own agent again, if there is one. */
  resumeCommand?(session: {
    readonly id: string;
    readonly cwd: string | null;
    /** Of the machine that runs it. Default: one with a POSIX shell. */
    readonly platform?: string;
  }): string | null;
}

/** The parts of the environment that locate files. */
export interface Environment {
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
}

export interface Place {
  /** An absolute folder, or a single file. */
  readonly root: string;
  /** Which files below it are transcripts, by their path relative to the root, with `/`. */
  readonly matches: (path: string) => boolean;
  /**
   * Which other files below it belong to transcripts and may be put back, whoever sent them:
   * neither settings nor anything else that gives an agent rights or commands. Default: none.
   */
  readonly matchesPart?: (path: string) => boolean;
  /** Folders below it to skip. */
  readonly skips?: (path: string) => boolean;
  /**
   * Folders below the root that hold the session of `cwd` at `now` (epoch milliseconds), for
   * callers without time to walk the whole root.
   */
  readonly near?: (cwd: string, now: number) => readonly string[];
  /** Where companion files of transcripts are, for followers of the root. */
  readonly parts?: PlaceParts;
}

export interface NotePlace extends Place {
  /** The folder of the project's transcripts, relative to the root: they name the project. */
  readonly projectOf: (path: string) => string;
}

/** Paths relative to the place's root. */
export interface PlaceParts {
  /** Whether a folder without transcripts must be watched. */
  readonly isIn?: (folder: string) => boolean;
  /** The transcript that a file belongs to; undefined if none. `files` is relative to the root. */
  readonly ownerOf: (path: string, files: FileAccess) => Promise<string | undefined>;
}

export interface Companions {
  /** A folder, relative to the transcript's. */
  readonly folder: string;
  /** Which files in it, by name. Default: all. */
  readonly matches?: (name: string) => boolean;
}

export interface SourceInput {
  /** Empty for a pipe. */
  readonly path: string;
  /** From the start, or from the end of the reading in `resume`. */
  readonly lines: AsyncIterable<Line>;
  /** The same as UTF-8, decompressed and not split into lines. Read either this or `lines`. */
  readonly bytes?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /**
   * Whether `bytes` restarts on each iteration and leaves `lines` alone: true for a file, not for a
   * pipe. Default false.
   */
  readonly isRepeatable?: boolean;
  /**
   * The `state` of an earlier reading, to read only later lines of the file, or changed sessions of
   * a database.
   */
  readonly resume?: JsonObject;
  /** Companion files of the transcript, confined to the root. */
  readonly files?: FileAccess;
}

export interface FileAccess {
  /** By a path relative to the transcript's folder; undefined if missing or too large. */
  readText(path: string, maxBytes: number): Promise<string | undefined>;
  /** The text of a record in its own file; of a long one, with its long values cut. */
  readRecord(path: string): Promise<Pick<Line, "text" | "isCut"> | undefined>;
  /** Raw bytes, not decompressed. */
  readBytes(path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * A mutex for memory that the transcript's size does not account for: one file at a time may hold
   * companion data until it is stored. Resolves with the release function, to be called once.
   */
  hold(): Promise<() => void>;
  /** The names in a folder, sorted; empty if it does not exist. */
  list(path: string): Promise<readonly string[]>;
  /** The mtime of a file in epoch milliseconds; undefined if it does not exist. */
  modifiedAt(path: string): Promise<number | undefined>;
}

export interface ImportedTranscript {
  /** One at a time: read the entries of one before requesting the next. */
  readonly sessions: AsyncIterable<ImportedSession>;
  /** Complete once everything has been read. */
  readonly problems: ProblemLog;
  /**
   * Valid after everything is read: the state for resuming after the last complete line. Small. An
   * unterminated last line is passed again on resume: a reader that has taken it must recognise it,
   * or have no state. A reader without a state always gets the whole file.
   */
  readonly state?: () => JsonObject | undefined;
  /**
   * Valid after everything is read: whether something was postponed, such as an incomplete answer.
   * The file is then read again, even if unchanged.
   */
  readonly isPostponed?: () => boolean;
  /**
   * Valid after the last entry: whether a resumed reading stopped at a reference to an unknown
   * record. Then the file has to be read as a whole.
   */
  readonly isLost?: () => boolean;
}

export interface ImportedSession {
  /** The name of the source that read it. */
  readonly source: string;
  readonly agent: string;
  /** The creator of the session if the format names one; otherwise the agent. */
  readonly createdBy?: string;
  /** The repository named by the format, as `normalizeRemote` gives it. */
  readonly repo?: string;
  /** The gateway key that leads to the session now, with the gateway's fields. */
  readonly route?: { readonly key: string; readonly fields: JsonObject };
  /** The session's id in the source; null if the format has none. */
  readonly id: string | null;
  readonly title: string | null;
  /** The agent's working folder. */
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly startedAt: number | null;
  /** The parent session as the format names it: an id or a path. */
  readonly parentSession: string | null;
  /** `source` holds the format's fields without a counterpart here. */
  readonly metadata: JsonObject;
  readonly entries: AsyncIterable<ImportedEntry>;
  /** Valid after the last entry: the leaf, if it differs from the last entry that moved it. */
  readonly leaf?: () => string | null | undefined;
  /** The problem log, shared with the code that stores the session. */
  readonly problems: ProblemLog;
}

/**
 * A compaction's `data` field that is true if its text is not a summary, but the reason for its
 * absence.
 */
export const UNREADABLE_SUMMARY = "unreadable";

export interface ImportedEntry {
  /**
   * Stable across readings, and unique in its session unless the source repeats ids: the import then
   * gives later entries ids of their own.
   */
  readonly sourceId: string;
  /**
   * The source id of an entry that was given before and moves the leaf; null for a new start;
   * absent in formats without a tree, where an entry follows the previous one.
   */
  readonly parentSourceId?: string | null;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly blocks: readonly Block[];
  readonly data: JsonObject | null;
  /** Fields of `data` with source ids, which are mapped to ours. */
  readonly references?: readonly string[];
  readonly usage: Usage | null;
  /** The answer's id, where several entries are parts of one: its usage is on the last. */
  readonly answer?: string;
  readonly model: string | null;
  /** Cost of the call in US dollars, if reported. */
  readonly cost?: number;
  /** Null if unknown. */
  readonly createdAt: number | null;
  readonly metadata: JsonObject;
  /** Whether its source has shortened it: one that is stored already stays as it is. */
  readonly isShortened?: boolean;
  /** The entry that it copies. Set by the import, not by readers. */
  readonly copiedFrom?: string;
}
