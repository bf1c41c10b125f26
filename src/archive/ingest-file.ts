/**
 * One file: what is in it, what of it is new, and how far it was read.
 *
 * Nothing that is wrong with a file ends the run. What is wrong with the store does.
 */

import { accessAround } from "../ingest/files/file-access.ts";
import { holdTornLine, type ReadThrough } from "../ingest/files/last-line.ts";
import { isMostlyHoles, TranscriptFile } from "../ingest/files/open-file.ts";
import { limitLines } from "../ingest/files/oversize.ts";
import { type Line, splitLines } from "../ingest/lines.ts";
import { type ImportProblem, ProblemLog } from "../ingest/problems.ts";
import type { TranscriptSource } from "../ingest/source.ts";
import { recogniseSource } from "../ingest/sources.ts";
import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import { dropEmpty, ingestEmpty } from "./empty-file.ts";
import type { FileInput, Ingested } from "./file-input.ts";
import { type FileState, formatState, parseState } from "./file-state.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { type FileOutcome, outcomeOf, type SessionOutcome } from "./outcome.ts";
import { storeSession } from "./store-session.ts";

/** Only a failure of the store is thrown. */
export async function ingestFile(setting: IngestSetting, input: FileInput): Promise<Ingested> {
  const { file } = input.candidate;
  if (isMostlyHoles(file)) return { outcome: outcomeOf(file.path, "sparse") };
  try {
    if (file.size === 0) return await ingestEmpty(setting, input);
    const opened = await TranscriptFile.open(file.path);
    try {
      return await new Reading(setting, input, opened).run();
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = error instanceof Error ? error.message : String(error);
    return {
      outcome: { ...outcomeOf(file.path, isGone ? "vanished" : "unreadable"), message },
    };
  }
}

/** Sessions of one file whose outcome is kept one by one. */
const KEPT_SESSIONS = 100;

class Reading {
  readonly #setting: IngestSetting;
  readonly #input: FileInput;
  readonly #file: TranscriptFile;
  /** What is wrong with the file itself; a reader has a log of its own. */
  readonly #problems = new ProblemLog();
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
    if (await this.#canGoOn(source)) {
      const going = await this.#read(source, true);
      if (going !== undefined) return going;
    }
    return (await this.#read(source, false)) as Ingested;
  }

  /** Undefined if what follows an earlier reading cannot be understood without the rest. */
  async #read(source: TranscriptSource, isRest: boolean): Promise<Ingested | undefined> {
    const { file: found } = this.#input.candidate;
    const earlier = parseState(this.#input.known?.state ?? null);
    const start = this.#startAt(isRest);
    const transcript = source.read({
      path: found.path,
      lines: this.#lines(source, start),
      ...(isRest && earlier.reader !== undefined ? { resume: earlier.reader } : {}),
      files: accessAround(found.path, found.root),
    });
    const sessions: SessionOutcome[] = [];
    const kept = new Set<string>();
    let last: string | null = null;
    let index = 0;
    for await (const session of transcript.sessions) {
      const { last: end, ...stored } = await storeSession(this.#setting, session, {
        ...{ path: found.path, mtimeUs: this.#file.mtimeUs, isRest, index: index++ },
        last: isRest ? (earlier.last ?? null) : null,
        revive: this.#setting.force && this.#input.candidate.named,
      });
      last = end;
      if (stored.sessionId !== null) kept.add(stored.sessionId);
      this.#input.onSession(source.name, stored);
      if (sessions.length < KEPT_SESSIONS) sessions.push(stored);
    }
    if (transcript.isLost?.()) return undefined;
    if (earlier.empty !== undefined) await dropEmpty(this.#setting, earlier.empty, kept);
    const reader = transcript.state?.();
    const state = reader === undefined || index > 1 ? null : { reader, last };
    return {
      outcome: {
        ...{ path: found.path, how: isRest ? "continued" : "read", source: source.name, sessions },
        bytes: this.#file.size - start,
        ...joinProblems(this.#problems, transcript.problems),
        ignoredCounts: transcript.problems.ignored,
      },
      record: await this.#recordReading(source, state),
    };
  }

  async #recognise(): Promise<TranscriptSource | undefined> {
    const { candidate } = this.#input;
    const { only, sources } = this.#setting;
    if (only !== undefined && candidate.named) return only;
    const head = await this.#file.head(this.#problems);
    const { path } = candidate.file;
    return recogniseSource(head, path, only === undefined ? sources : [only], candidate.hint);
  }

  async #canGoOn(source: TranscriptSource): Promise<boolean> {
    const { known, plan } = this.#input;
    if (plan !== "rest" || known?.tailHash == null || known.source !== source.name) return false;
    if (known.state === null) return false;
    if (!this.#file.isPlain || source.container === "database") return false;
    const hash = await this.#file.tailHash(known.offset);
    return hash !== undefined && Buffer.compare(hash, known.tailHash) === 0;
  }

  #startAt(isRest: boolean): number {
    const { offset = 0, lines = 0 } = isRest ? (this.#input.known ?? {}) : {};
    Object.assign(this.#through, { offset, lines, isOpen: false });
    return offset;
  }

  #lines(source: TranscriptSource, offset: number): AsyncIterable<Line> {
    if (source.container === "database") return noLines();
    const { oversize } = this.#setting;
    const start = { lines: this.#through.lines, offset };
    const all = splitLines(this.#file.read(this.#problems, offset), { start });
    const whole = holdTornLine(all, this.#file.size, this.#through, this.#problems);
    return isDocument(this.#file.path) ? whole : limitLines(whole, oversize, this.#problems);
  }

  async #recordReading(source: TranscriptSource, state: FileState | null): Promise<IngestedFile> {
    const canGoOn = state !== null && this.#file.isPlain && !this.#through.isOpen;
    const hash = canGoOn ? await this.#file.tailHash(this.#through.offset) : undefined;
    return {
      ...this.#record(source.name, hash === undefined ? null : formatState(state ?? {})),
      tailHash: hash ?? null,
    };
  }

  #record(source: string, state: string | null): IngestedFile {
    const { file: found } = this.#input.candidate;
    const { offset, lines } = this.#through;
    const isDatabase = found.size > this.#file.size;
    // A database is as large and as new as it was with its log when it was found.
    const { size, mtimeUs } = isDatabase ? found : this.#file;
    return {
      ...{ path: found.path, source, size, mtimeUs, offset, lines, state },
      ...{ tailHash: null, seenAt: Date.now() },
    };
  }
}

async function* noLines(): AsyncGenerator<Line> {
  // A database has none.
}

/** One JSON value, on however few lines: the limit is one of lines that each hold a record. */
function isDocument(path: string): boolean {
  return /\.json(\.(gz|zst))?$/i.test(path);
}

function joinProblems(
  ...logs: readonly ProblemLog[]
): Pick<FileOutcome, "problems" | "problemCounts"> {
  const counts = new Map<string, number>();
  const problems: ImportProblem[] = [];
  for (const log of logs) {
    problems.push(...log.first);
    for (const [code, count] of log.counts) counts.set(code, (counts.get(code) ?? 0) + count);
  }
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return { problems: problems.slice(0, 100), problemCounts: counts };
}

/** What another file would meet as well. */
const STORE_FAILURES: readonly ErrorCode[] = [
  ...(["store_closed", "store_busy", "store_unavailable", "store_read_only"] as const),
  ...(["store_full", "quota_exceeded", "store_corrupt", "schema_too_new"] as const),
  ...(["needs_migration", "foreign_database", "unsupported_storage"] as const),
];

function isStoreFailure(error: unknown): boolean {
  return BackscrollError.is(error) && STORE_FAILURES.includes(error.code);
}
