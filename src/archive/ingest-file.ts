/**
 * Ingests one file: reads its new part, stores it, remembers the offset.
 *
 * A damaged file never ends the run; an error of the store does.
 */

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ImportResult } from "../engine/import/import-session.ts";
import { accessAround } from "../ingest/files/file-access.ts";
import { limitLines, type ReadThrough, withholdPartialLine } from "../ingest/files/limit-lines.ts";
import { isSparse, TranscriptFile } from "../ingest/files/open-file.ts";
import { toFound } from "../ingest/files/walk.ts";
import { type Line, splitLines } from "../ingest/lines.ts";
import { CutLine, CutText } from "../ingest/long/long-line.ts";
import { ProblemLog } from "../ingest/problems.ts";
import type { TranscriptSource } from "../ingest/source.ts";
import { recogniseSource, recogniseStart } from "../ingest/sources.ts";
import { defined } from "../model/defined.ts";
import { BackscrollError, type ErrorCode, ignoring, messageOf } from "../model/errors.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { Candidate } from "./candidate.ts";
import {
  addSums,
  type FileState,
  type FileSum,
  formatState,
  ignoredSource,
  MAX_REMEMBERED_PATH,
  parseState,
  sumBeside,
} from "./file-state.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { keepOriginal, keepParts, UsedFiles } from "./originals.ts";
import { type FileOutcome, joinProblems, outcomeOf, type SessionOutcome } from "./outcome.ts";
import type { IgnorableSession } from "./rules/archive-rules.ts";
import { type Rereading, storeSession } from "./store-session.ts";

export interface Ingested {
  readonly outcome: FileOutcome;
  /** The state to remember; undefined if the next run has to read the file again. */
  readonly record?: IngestedFile;
}

export interface FileInput {
  readonly candidate: Candidate;
  readonly known: IngestedFile | undefined;
  readonly plan: "whole" | "rest";
  readonly onSession: (source: string, session: SessionOutcome) => void;
  /** The kept original, if the file is read from there: a copy in a folder with its companions. */
  readonly original?: {
    readonly file: TranscriptFile;
    readonly copy: string;
    readonly root: string;
    /** Those of making the copy. */
    readonly problems?: ProblemLog;
  };
  /** Set if the file is read because another file of its session was late. */
  readonly again?: Rereading;
}

/** Throws only failures of the store. */
export async function ingestFile(setting: IngestSetting, input: FileInput): Promise<Ingested> {
  const { file } = input.candidate;
  if (isSparse(file)) return { outcome: outcomeOf(file.path, "sparse") };
  try {
    if (file.size === 0) return ingestEmpty(setting, input);
    const opened =
      input.original?.file ?? (await TranscriptFile.open(file.path, { foundSize: file.size }));
    try {
      return await new Reading(setting, input, opened).run();
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = messageOf(error);
    return {
      outcome: { ...outcomeOf(file.path, isGone ? "vanished" : "unreadable"), message },
    };
  }
}

/** Sessions of one file with individual outcomes. */
const KEPT_SESSIONS = 100;

class Reading {
  readonly #setting: IngestSetting;
  readonly #input: FileInput;
  readonly #file: TranscriptFile;
  /** Problems with the file itself; a reader has its own log. */
  #problems = new ProblemLog();
  /** Result of an incremental read that was abandoned. */
  #lost: SessionOutcome | undefined;
  readonly #used = new UsedFiles();
  #beside: FileSum = { size: 0, mtimeUs: 0 };
  readonly #through: ReadThrough = { offset: 0, lines: 0, isOpen: false };

  constructor(setting: IngestSetting, input: FileInput, file: TranscriptFile) {
    this.#setting = setting;
    this.#input = input;
    this.#file = file;
  }

  async run(): Promise<Ingested> {
    const { file: found } = this.#input.candidate;
    const source = await this.#recognise();
    if (source === undefined) {
      return {
        outcome: outcomeOf(found.path, "unrecognised"),
        record: this.#record(this.#setting.unrecognised, null),
      };
    }
    // Taken before reading, so that lines written meanwhile count as new.
    this.#beside = await sumBeside(source, found);
    const read = () => this.#resumeOrReadWhole(source);
    // A file that is read again because of another one uses that one's slot.
    const isMeasured =
      (this.#file.isPlain && source.companions === undefined) || this.#input.again !== undefined;
    return isMeasured ? read() : this.#setting.unmeasured.take(read);
  }

  async #resumeOrReadWhole(source: TranscriptSource): Promise<Ingested> {
    if (await this.#canResume(source)) {
      const going = await this.#read(source, true);
      if (going !== undefined) return going;
      this.#problems = new ProblemLog();
    }
    return (await this.#read(source, false)) as Ingested;
  }

  /** Undefined if the tail cannot be understood without the rest. */
  async #read(source: TranscriptSource, isRest: boolean): Promise<Ingested | undefined> {
    const { file: found } = this.#input.candidate;
    const earlier = parseState(this.#input.known?.state ?? null);
    const isDatabase = source.container === "database";
    const isWritten = this.#input.candidate.write !== undefined;
    // A database gives changed sessions as a whole, so this is not a tail.
    const resumes = isRest || this.#knowsDatabase(source);
    const start = this.#startAt(isRest);
    const { copy, root } = this.#input.original ?? { copy: found.path, root: found.root };
    const bytes = this.#file.repeatable(this.#problems, start);
    const transcript = source.read({
      path: found.path,
      lines: this.#lines(source, bytes, start),
      bytes,
      isRepeatable: true,
      ...(resumes && earlier.reader !== undefined ? { resume: earlier.reader } : {}),
      files: this.#used.watch(accessAround(copy, root, this.#setting.held)),
    });
    const sessions: SessionOutcome[] = [];
    const kept = new Set<string>();
    let hasForgotten = false;
    const ignored: IgnorableSession[] = [];
    let last = isRest ? (earlier.last ?? null) : null;
    let key: string | undefined;
    let index = 0;
    for await (const session of transcript.sessions) {
      const result = await storeSession(this.#setting, session, {
        path: found.path,
        mtimeUs: this.#file.mtimeUs,
        isRest,
        index: index++,
        last: isRest ? last : null,
        key: earlier.key,
        // Found in an agent's folder, or named by the person.
        isNamed: this.#input.candidate.hint === undefined,
        revive: this.#setting.force && this.#input.candidate.named,
        again: this.#input.again,
        repository: this.#input.candidate.repository,
        // A transcript that is no file is whole: it has no other files.
        onLate: isDatabase || isWritten ? undefined : (late) => this.#readAgain(source, late),
      });
      const { last: end, key: own, late: _, unsure, ignored: left, ...counts } = result;
      const given = left === undefined ? counts : { ...counts, ignoredBy: left.rule };
      if (left !== undefined) ignored.push(left.session);
      const { again } = this.#input;
      if (again !== undefined && given.sessionId === again.sessionId) again.result = result;
      if (transcript.isLost?.() || unsure) {
        this.#lost = given;
        return undefined;
      }
      const stored = this.#lost === undefined ? given : joinLost(given, this.#lost);
      last = end;
      key = own;
      if (stored.sessionId !== null) kept.add(stored.sessionId);
      // The bytes of a shared file cannot be separated.
      hasForgotten ||= stored.forgotten || left !== undefined;
      this.#input.onSession(source.name, stored);
      if (sessions.length < KEPT_SESSIONS) sessions.push(stored);
    }
    if (earlier.empty !== undefined) await dropEmpty(this.#setting, earlier.empty, kept);
    if (!hasForgotten && !isWritten) await this.#keepOriginal(source, [...kept], isRest);
    const reader = transcript.state?.();
    const how = resumes ? "continued" : "read";
    const leftOut = index === 1 && !isDatabase ? ignored[0] : undefined;
    // The next run must read the unstored part again.
    const isLeft = index === 1 && sessions[0]?.sessionId === null && !sessions[0].forgotten;
    const canResume = reader !== undefined && (isDatabase || (index <= 1 && !isLeft));
    const state: FileState = {
      ...(canResume ? { reader, last } : {}),
      ...(index > 1 || isDatabase ? {} : stateOf(sessions[0], key ?? earlier.key)),
    };
    return {
      outcome: {
        path: found.path,
        how: ignored.length > 0 && ignored.length === index ? "ignored" : how,
        source: source.name,
        sessions,
        bytes: this.#file.size - start,
        ...joinProblems(this.#problems, transcript.problems, this.#input.original?.problems),
        ignoredCounts: transcript.problems.ignored,
      },
      record: {
        ...(leftOut === undefined
          ? await this.#recordReading(source, state)
          : this.#record(ignoredSource(source.name), formatState({ ignored: leftOut }))),
        // mtime 0 makes the next scan read the file again.
        ...(transcript.isPostponed?.() ? { mtimeUs: 0 } : {}),
      },
    };
  }

  /**
   * Not for databases, which change in place, nor for folders of small files. The caller excludes
   * files of forgotten sessions, whose bytes would bring them back.
   */
  async #keepOriginal(
    source: TranscriptSource,
    sessionIds: readonly string[],
    isRest: boolean,
  ): Promise<void> {
    const { tenant, workstation, originals, dryRun } = this.#setting;
    const { path } = this.#file;
    if (!originals || dryRun || source.container === "database" || source.companions) return;
    if (sessionIds.length === 0) return;
    if (Buffer.byteLength(path) > MAX_REMEMBERED_PATH) return;
    const facts = { workstation, source: source.name, reader: source.version ?? 1, sessionIds };
    const unchanged = isRest && this.#file.isPlain ? (this.#input.known?.offset ?? 0) : 0;
    if (!(await keepOriginal(tenant, this.#file, { ...facts, unchanged }))) return;
    const copy = this.#input.original?.copy ?? path;
    await keepParts(tenant, this.#used, { path, copy }, facts);
  }

  /**
   * Imports a session again from all of its files, because this one came late: it was found after a
   * later one, or grew after it.
   *
   * The session and its entries keep their ids. Its files are marked unread first, so the next run
   * repairs an interrupted re-import.
   */
  async #readAgain(source: TranscriptSource, late: ImportResult): Promise<ImportResult> {
    const { path } = this.#file;
    const { tenant, workstation } = this.#setting;
    const files = late.late ?? [];
    const others = files.filter((file) => file !== path);
    if ((await Promise.all(files.map(exists))).every(Boolean)) {
      await forgetReading(this.#setting, others);
      const records: IngestedFile[] = [];
      let begun: ImportResult | undefined;
      let own: ImportResult | undefined;
      for (const file of files) {
        const whenLate = begun === undefined ? "anew" : undefined;
        const { result, record } = await this.#readOne(source, file, {
          sessionId: late.sessionId,
          whenLate,
        });
        if (begun === undefined && (result === undefined || result.late !== undefined)) break;
        begun ??= result;
        if (file === path) own = result;
        else if (record !== undefined) records.push(record);
      }
      if (records.length > 0) await tenant.putIngestedFiles(workstation, records);
      if (begun !== undefined) return { ...(own ?? begun), created: false };
    }
    this.#problems.add(
      "late_file",
      `${path} precedes the stored part of its session, which cannot be read again as a whole; its messages are a branch off the active path`,
    );
    const aside = { sessionId: late.sessionId, whenLate: "aside" } as const;
    return (await this.#readOne(source, path, aside)).result ?? late;
  }

  /** One file of a session, whole; the result is undefined if it is unreadable. */
  async #readOne(
    hint: TranscriptSource,
    path: string,
    reread: Rereading,
  ): Promise<{ readonly result?: ImportResult; readonly record?: IngestedFile }> {
    const { root } = this.#input.candidate.file;
    const file = toFound(path.startsWith(root) ? root : dirname(path), path, await stat(path));
    const { record } = await ingestFile(this.#setting, {
      candidate: { file, hint, named: false },
      known: undefined,
      plan: "whole",
      again: reread,
      onSession: () => undefined,
    });
    const { result } = reread;
    return result === undefined ? {} : { result, ...defined({ record }) };
  }

  async #recognise(): Promise<TranscriptSource | undefined> {
    const { candidate } = this.#input;
    const { only, sources } = this.#setting;
    if (only !== undefined && candidate.named) return only;
    const head = await this.#file.head(this.#problems);
    const { path } = candidate.file;
    const known = only === undefined ? sources : [only];
    return recogniseStart(
      head,
      () => this.#file.read(new ProblemLog()),
      (start) => recogniseSource(start, path, known, candidate.hint),
    );
  }

  async #canResume(source: TranscriptSource): Promise<boolean> {
    const { known, plan } = this.#input;
    const { reader, end } = parseState(known?.state ?? null);
    if (reader === undefined) return false;
    if (plan !== "rest" || known?.tailHash == null || known.source !== source.name) return false;
    if (!this.#file.isPlain || source.container === "database") return false;
    const hash = await this.#file.tailHash(end ?? known.offset);
    return hash !== undefined && Buffer.compare(hash, known.tailHash) === 0;
  }

  /** Whether the same reader has read it before and can detect changes. */
  #knowsDatabase(source: TranscriptSource): boolean {
    const { known } = this.#input;
    const isSame = source.container === "database" && known?.source === source.name;
    return isSame && known.state !== null && !this.#setting.force;
  }

  #startAt(isRest: boolean): number {
    const { offset = 0, lines = 0 } = isRest ? (this.#input.known ?? {}) : {};
    Object.assign(this.#through, { offset, lines, isOpen: false });
    return offset;
  }

  #lines(
    source: TranscriptSource,
    bytes: AsyncIterable<Uint8Array>,
    offset: number,
  ): AsyncIterable<Line> {
    if (source.container === "database") return noLines();
    const { oversize, longLines } = this.#setting;
    const { path } = this.#file;
    const isText = source.isText?.(path) ?? false;
    const all = splitLines(bytes, {
      start: { lines: this.#through.lines, offset },
      ...(isDocument(path)
        ? { longLines }
        : { whenLong: () => (isText ? new CutText() : new CutLine()) }),
    });
    const last = { end: this.#file.size, isText };
    const whole = withholdPartialLine(all, last, this.#through, this.#problems);
    return isDocument(path) ? whole : limitLines(whole, oversize, this.#problems);
  }

  async #recordReading(source: TranscriptSource, state: FileState): Promise<IngestedFile> {
    const isDatabase = source.container === "database";
    const { reader, ...rest } = state;
    const canResume = reader !== undefined && this.#file.isPlain && !isDatabase;
    const { isOpen, offset } = this.#through;
    // An unterminated last line must still be the same when the reading is resumed.
    const end = isOpen ? { end: this.#file.size } : {};
    const hash = canResume ? await this.#file.tailHash(end.end ?? offset) : undefined;
    const kept = hash === undefined && !isDatabase ? rest : { ...state, ...end };
    return { ...this.#record(source.name, formatState(kept)), tailHash: hash ?? null };
  }

  #record(source: string, state: string | null): IngestedFile {
    const { file: found, write } = this.#input.candidate;
    const { offset, lines } = this.#through;
    const { size, mtimeUs } = addSums(write === undefined ? this.#file : found, this.#beside);
    return {
      path: found.path,
      source,
      size,
      mtimeUs,
      offset,
      lines,
      state,
      tailHash: null,
      seenAt: Date.now(),
    };
  }
}

/** Clears their recorded mtimes, so that the next scan reads them. */
async function forgetReading(
  { tenant, workstation }: IngestSetting,
  paths: readonly string[],
): Promise<void> {
  const known = await tenant.findIngestedFiles(workstation, paths, { withState: false });
  if (known.length === 0) return;
  await tenant.putIngestedFiles(
    workstation,
    known.map((file) => ({ ...file, mtimeUs: 0, tailHash: null, state: null })),
  );
}

function ingestEmpty(setting: IngestSetting, input: FileInput): Ingested {
  const { file, hint } = input.candidate;
  const source = setting.only ?? hint;
  const outcome = outcomeOf(file.path, "empty");
  if (source === undefined) return { outcome };
  // An emptied file still belongs to its session.
  const { key, empty } = parseState(input.known?.state ?? null);
  const state = formatState(defined({ key, empty }));
  const { path, mtimeUs, size } = file;
  const place = { path, source: source.name, size, mtimeUs, offset: 0, lines: 0, tailHash: null };
  return { outcome, record: { ...place, state, seenAt: Date.now() } };
}

/** Deletes an empty session, unless it is in `kept` or has been written to. */
async function dropEmpty(
  { tenant, dryRun }: IngestSetting,
  id: string,
  kept: ReadonlySet<string>,
): Promise<void> {
  if (dryRun || kept.size === 0 || kept.has(id)) return;
  await ignoring("session_not_found", async () => {
    const { entryCount } = await tenant.getSessionMeta(id);
    if (entryCount === 0) await tenant.deleteSession(id);
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // Deleted or unreadable: only the store has its content.
    return false;
  }
}

/** The outcome of a session that was read incrementally at first and then whole. */
function joinLost(whole: SessionOutcome, lost: SessionOutcome): SessionOutcome {
  const { created, entries } = lost;
  return {
    ...whole,
    created: whole.created || created,
    entries: whole.entries + entries,
    skipped: Math.max(0, whole.skipped - entries),
  };
}

/** The remembered state of a file's only session. */
function stateOf(session: SessionOutcome | undefined, key: string | undefined): FileState {
  const { sessionId = null, entries = 1, skipped = 0 } = session ?? {};
  return {
    ...(key === undefined ? {} : { key }),
    // Still empty: its session may turn out to be another.
    ...(sessionId !== null && entries + skipped === 0 ? { empty: sessionId } : {}),
  };
}

async function* noLines(): AsyncGenerator<Line> {
  // A database has none.
}

/** One JSON value, on however few lines: the line limit applies to records. */
function isDocument(path: string): boolean {
  return /\.json(\.(gz|zst))?$/i.test(path);
}

/** Failures that every other file would meet too. */
const STORE_FAILURES: readonly ErrorCode[] = [
  "store_closed",
  "store_busy",
  "store_unavailable",
  "store_read_only",
  "store_full",
  "quota_exceeded",
  "store_corrupt",
  "schema_too_new",
  "needs_migration",
  "schema_too_old",
  "foreign_database",
  "unsupported_storage",
  "unauthorized",
  "forbidden",
  "rate_limited",
];

function isStoreFailure(error: unknown): boolean {
  return BackscrollError.is(error) && STORE_FAILURES.includes(error.code);
}
