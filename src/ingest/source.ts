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
   * Of the reader; 1 if left out. It grows when the reader finds more in the same bytes, so that
   * sessions are derived anew from the originals that are kept.
   */
  readonly version?: number;
  /** The agent's folders on a machine, which need not exist. No I/O. */
  places?(environment: Environment): readonly Place[];
  /** Where the agent keeps notes of its own, a Markdown file each, in a folder for each project. */
  notes?(environment: Environment): readonly NotePlace[];
  /** Whether a file that begins with `head` is of this format. `head` may end anywhere. */
  recognise(head: Uint8Array, path: string): boolean;
  /**
   * `lines` (the default): the file is handed over line by line. `database`: the reader opens `path`
   * itself, read-only; `lines` is empty.
   */
  readonly container?: "lines" | "database";
  /**
   * Whether single lines are not JSON values: the file is text, or one JSON value over many lines.
   * Then the last line is passed on as it is. Otherwise an incomplete last line waits for its rest.
   */
  isText?(path: string): boolean;
  /** Files beside a transcript that are a part of it: when they change, it has changed. */
  companions?(path: string): readonly Companions[];
  /** Lazy: reads when `sessions` is iterated. */
  read(input: SourceInput): ImportedTranscript;
  /** The command that opens a session in its own agent again, if there is one. */
  resumeCommand?(session: { readonly id: string; readonly cwd: string | null }): string | null;
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
  /** Which files below it are transcripts, by their path from the root with `/` between names. */
  readonly matches: (path: string) => boolean;
  /** Folders below it that need not be entered. */
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
  /** The folder, from the root, with the project's transcripts: they tell what project it is. */
  readonly projectOf: (path: string) => string;
}

/** Paths are from the place's root. */
export interface PlaceParts {
  /** Whether a folder must be watched though there are no transcripts in it. */
  readonly isIn?: (folder: string) => boolean;
  /** The transcript that a file is a part of; undefined if it is of none. `files` begins at the root. */
  readonly ownerOf: (path: string, files: FileAccess) => Promise<string | undefined>;
}

export interface Companions {
  /** A folder, by its path from the transcript's own. */
  readonly folder: string;
  /** Which files in it, by their names; all if left out. */
  readonly matches?: (name: string) => boolean;
}

export interface SourceInput {
  /** Empty for what comes through a pipe. */
  readonly path: string;
  /** From the beginning, or from where `resume` says that an earlier reading ended. */
  readonly lines: AsyncIterable<Line>;
  /** The same as UTF-8, unpacked and not yet cut into lines. To be read instead of `lines`, not as well. */
  readonly bytes?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /**
   * Whether `bytes` begin anew each time they are iterated, and leave `lines` alone: so of a file, not of
   * what comes through a pipe. False if left out.
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
  /** The text of a record that has a file to itself: of a long one, with its long values cut. */
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
  /** One at a time: read the entries of one before you ask for the next. */
  readonly sessions: AsyncIterable<ImportedSession>;
  /** Complete once everything has been read. */
  readonly problems: ProblemLog;
  /**
   * To be asked when all is read: what a later reading needs to go on from the last complete line.
   * Small. A last line that had no line break is handed over again then: a reader that has taken it
   * must know it, or have no state. One that has none is always given the whole file.
   */
  readonly state?: () => JsonObject | undefined;
  /**
   * To be asked when all is read: whether something was left for later, such as an answer that is being
   * written. Then the file is read again, though it may not change any more.
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
  /** The repository that the format names, as `normalizeRemote` gives it. */
  readonly repo?: string;
  /** The key that leads to the session in a gateway now, and what the gateway says of it. */
  readonly route?: { readonly key: string; readonly fields: JsonObject };
  /** The session's id in its own world; null if the format gives it none. */
  readonly id: string | null;
  readonly title: string | null;
  /** The folder in which the agent worked. */
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly startedAt: number | null;
  /** The session that this one was made from, as the format names it: an id or a path. */
  readonly parentSession: string | null;
  /** `source` holds what the format says and we have no field for. */
  readonly metadata: JsonObject;
  readonly entries: AsyncIterable<ImportedEntry>;
  /** Valid after the last entry: the leaf, if it differs from the last entry that moved it. */
  readonly leaf?: () => string | null | undefined;
  /** The problem log, shared with the code that stores the session. */
  readonly problems: ProblemLog;
}

/** The field of a compaction's `data` that is true where its text is no summary, but says why not. */
export const UNREADABLE_SUMMARY = "unreadable";

export interface ImportedEntry {
  /** Unique in its session, and the same whenever the file is read. */
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
  /** The fields of `data` that hold source ids, to be replaced by ours. */
  readonly references?: readonly string[];
  readonly usage: Usage | null;
  /** The answer's id, where several entries are parts of one: its usage stands on the last. */
  readonly answer?: string;
  readonly model: string | null;
  /** Cost of the call in US dollars, where the source says so. */
  readonly cost?: number;
  /** Null if the format does not say. */
  readonly createdAt: number | null;
  readonly metadata: JsonObject;
  /** Our entry that it is a copy of. Set by the import, not by readers. */
  readonly copiedFrom?: string;
}
