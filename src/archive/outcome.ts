/** The outcome of a file, and the totals of a run. */

import type { ImportProblem } from "../ingest/problems.ts";

export const HOWS = [
  /** Size and time are what they were: it was not opened. */
  "unchanged",
  /** From its start. */
  "read",
  /** From where the last reading ended. */
  "continued",
  /** The file has no known format. */
  "unrecognised",
  /** Empty, and of no recognisable format yet. */
  "empty",
  /** Gone between being found and being opened. */
  "vanished",
  /** Unreadable: by permissions or by its content. */
  "unreadable",
  /** Nearly all holes. */
  "sparse",
] as const;
export type How = (typeof HOWS)[number];

export interface SessionOutcome {
  /** Null in a dry run of a session that is not there, and for one that was forgotten. */
  readonly sessionId: string | null;
  readonly created: boolean;
  readonly entries: number;
  readonly skipped: number;
  /** It was deleted here, and was not stored again. */
  readonly forgotten: boolean;
}

export interface FileOutcome {
  readonly path: string;
  readonly how: How;
  readonly source: string | null;
  /** Bytes read. */
  readonly bytes: number;
  /** The first hundred. */
  readonly sessions: readonly SessionOutcome[];
  /** The first hundred. */
  readonly problems: readonly ImportProblem[];
  readonly problemCounts: ReadonlyMap<string, number>;
  /** Records that were left out on purpose, by the source's name of their type. */
  readonly ignoredCounts: ReadonlyMap<string, number>;
  /** Why it is unreadable. */
  readonly message?: string;
}

const NONE: ReadonlyMap<string, number> = new Map();

/** The outcome of a file without sessions. */
export function outcomeOf(path: string, how: How): FileOutcome {
  const nothing = { source: null, bytes: 0, sessions: [], problems: [] };
  return { path, how, ...nothing, problemCounts: NONE, ignoredCounts: NONE };
}

/** Files of no known format that are named one by one. */
const KEPT_NAMES = 1_000;

export interface SourceTotals {
  files: number;
  /** Files that were not opened. */
  unchanged: number;
  /** Sessions that were not there before. */
  created: number;
  entries: number;
}

/** Everything that was done, counted. */
export class Totals {
  readonly files: Record<How, number> = Object.fromEntries(HOWS.map((how) => [how, 0])) as Record<
    How,
    number
  >;
  readonly sources: Map<string, SourceTotals> = new Map();
  readonly problems: Map<string, number> = new Map();
  /** The first thousand files of no known format, whether they were opened this time or before. */
  readonly unrecognised: string[] = [];
  /** Skipped records without conversation content. */
  readonly ignored: Map<string, number> = new Map();
  bytes = 0;
  created = 0;
  /** Known sessions that have got something new. */
  grown = 0;
  forgotten = 0;
  entries = 0;

  get found(): number {
    return Object.values(this.files).reduce((sum, count) => sum + count, 0);
  }

  add(outcome: FileOutcome): void {
    if (outcome.how === "unrecognised") this.addUnrecognised(outcome.path);
    else this.files[outcome.how]++;
    this.bytes += outcome.bytes;
    addCounts(this.problems, outcome.problemCounts);
    addCounts(this.ignored, outcome.ignoredCounts);
    if (outcome.source !== null) this.#addSource(outcome.source).files++;
  }

  addUnrecognised(path: string): void {
    this.files.unrecognised++;
    if (this.unrecognised.length < KEPT_NAMES) this.unrecognised.push(path);
  }

  /** A file of a known format that was not opened. */
  addUnchanged(source: string): void {
    this.files.unchanged++;
    this.#addSource(source).unchanged++;
  }

  addSession(source: string, session: SessionOutcome): void {
    const totals = this.#addSource(source);
    totals.entries += session.entries;
    this.entries += session.entries;
    if (session.created) {
      totals.created++;
      this.created++;
    } else if (session.entries > 0) this.grown++;
    if (session.forgotten) this.forgotten++;
  }

  #addSource(name: string): SourceTotals {
    let totals = this.sources.get(name);
    if (totals === undefined) {
      totals = { files: 0, unchanged: 0, created: 0, entries: 0 };
      this.sources.set(name, totals);
    }
    return totals;
  }
}

function addCounts(sum: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
}
