/** The outcome of a file, and the totals of a run. */

import type { ImportProblem, ProblemLog } from "../ingest/problems.ts";

export const HOWS = [
  /** Size and time are unchanged: it was not opened. */
  "unchanged",
  /** From its start. */
  "read",
  /** Resumed where the last reading ended. */
  "continued",
  "unrecognised",
  /** A rule keeps all of its sessions out of the store. */
  "ignored",
  /** Empty, and of no recognisable format yet. */
  "empty",
  /** Deleted between scan and open. */
  "vanished",
  /** Unreadable, by permissions or content. */
  "unreadable",
  /** A sparse file. */
  "sparse",
] as const;
export type How = (typeof HOWS)[number];

export interface SessionOutcome {
  /** Null in a dry run of a new session, and for a forgotten one. */
  readonly sessionId: string | null;
  readonly created: boolean;
  readonly entries: number;
  readonly skipped: number;
  /** It was deleted here and skipped. */
  readonly forgotten: boolean;
  /** The rule that keeps it out of the store. */
  readonly ignoredBy?: string;
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
  /** Deliberately skipped records, by the source's type. */
  readonly ignoredCounts: ReadonlyMap<string, number>;
  /** Why it is unreadable, or ignored. */
  readonly message?: string;
}

const NONE: ReadonlyMap<string, number> = new Map();

/** The outcome of a file without sessions; `message` says why. */
export function outcomeOf(path: string, how: How, message?: string): FileOutcome {
  const nothing = { source: null, bytes: 0, sessions: [], problems: [] };
  const why = message === undefined ? {} : { message };
  return { path, how, ...nothing, problemCounts: NONE, ignoredCounts: NONE, ...why };
}

/** The problems of a file, by line: those with it, and those of its reader. */
export function joinProblems(
  ...logs: readonly (ProblemLog | undefined)[]
): Pick<FileOutcome, "problems" | "problemCounts"> {
  const counts = new Map<string, number>();
  const problems: ImportProblem[] = [];
  for (const log of logs) {
    if (log === undefined) continue;
    problems.push(...log.first);
    for (const [code, count] of log.counts) counts.set(code, (counts.get(code) ?? 0) + count);
  }
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return { problems: problems.slice(0, 100), problemCounts: counts };
}

/** The limit of listed files of no known format. */
const KEPT_NAMES = 1_000;

export interface SourceTotals {
  files: number;
  /** Files that were not opened. */
  unchanged: number;
  /** New sessions. */
  created: number;
  entries: number;
  /** The agents' places that contain its files, possibly another agent's. */
  readonly places: Set<string>;
}

/** The totals of a run. */
export class Totals {
  readonly files: Record<How, number> = Object.fromEntries(HOWS.map((how) => [how, 0])) as Record<
    How,
    number
  >;
  readonly sources: Map<string, SourceTotals> = new Map();
  readonly problems: Map<string, number> = new Map();
  /** The first thousand files of no known format, opened now or before. */
  readonly unrecognised: string[] = [];
  /** Skipped records without conversation content. */
  readonly ignored: Map<string, number> = new Map();
  bytes = 0;
  created = 0;
  /** Known sessions with new entries. */
  grown = 0;
  forgotten = 0;
  /** Sessions that rules keep out of the store, by rule. */
  readonly ignoredBy: Map<string, number> = new Map();
  entries = 0;

  get found(): number {
    return Object.values(this.files).reduce((sum, count) => sum + count, 0);
  }

  add(outcome: FileOutcome, place?: string): void {
    if (outcome.how === "unrecognised") this.addUnrecognised(outcome.path);
    else this.files[outcome.how]++;
    this.bytes += outcome.bytes;
    addCounts(this.problems, outcome.problemCounts);
    addCounts(this.ignored, outcome.ignoredCounts);
    if (outcome.source !== null) this.#addSource(outcome.source, place).files++;
  }

  addUnrecognised(path: string): void {
    this.files.unrecognised++;
    if (this.unrecognised.length < KEPT_NAMES) this.unrecognised.push(path);
  }

  /** A file of a known format that was not opened. */
  addUnchanged(source: string, place?: string): void {
    this.files.unchanged++;
    this.#addSource(source, place).unchanged++;
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
    if (session.ignoredBy !== undefined) this.#addIgnored(session.ignoredBy);
  }

  /** A file that a rule keeps out, as before. */
  addIgnoredFile(rule: string): void {
    this.files.ignored++;
    this.#addIgnored(rule);
  }

  #addIgnored(rule: string): void {
    this.ignoredBy.set(rule, (this.ignoredBy.get(rule) ?? 0) + 1);
  }

  #addSource(name: string, place?: string): SourceTotals {
    let totals = this.sources.get(name);
    if (totals === undefined) {
      totals = { files: 0, unchanged: 0, created: 0, entries: 0, places: new Set() };
      this.sources.set(name, totals);
    }
    if (place !== undefined) totals.places.add(place);
    return totals;
  }
}

function addCounts(sum: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
}
