/** The result of ingesting, on the wire. */

import type { IngestReport } from "../archive/ingest.ts";
import type { FileOutcome, Totals } from "../archive/outcome.ts";

export interface WireFileOutcome {
  readonly file: string;
  readonly how: string;
  readonly source: string | null;
  readonly sessions: readonly {
    readonly session_id: string | null;
    readonly created: boolean;
    readonly entries: number;
    readonly skipped: number;
    readonly forgotten: boolean;
    /** The rule that keeps it out of the store. */
    readonly ignored_by: string | null;
  }[];
  readonly problem_counts: Readonly<Record<string, number>>;
  /** Skipped records without conversation content, by type. */
  readonly ignored_counts: Readonly<Record<string, number>>;
  readonly problems: readonly {
    readonly line: number | null;
    readonly code: string;
    readonly message: string;
  }[];
}

export interface WireTotals {
  readonly files: Readonly<Record<string, number>>;
  readonly sessions: { readonly new: number; readonly grown: number; readonly forgotten: number };
  /** Sessions that rules keep out of the store, by rule. */
  readonly ignored_by: Readonly<Record<string, number>>;
  readonly entries: number;
  readonly bytes: number;
  readonly problems: Readonly<Record<string, number>>;
  readonly ignored: Readonly<Record<string, number>>;
  readonly sources: Readonly<
    Record<
      string,
      { readonly files: number; readonly new_sessions: number; readonly entries: number }
    >
  >;
}

/** `name` is the caller's name of the file. */
export function toWireOutcome(outcome: FileOutcome, name: string = outcome.path): WireFileOutcome {
  return {
    file: name,
    how: outcome.how,
    source: outcome.source,
    sessions: outcome.sessions.map((session) => ({
      session_id: session.sessionId,
      created: session.created,
      entries: session.entries,
      skipped: session.skipped,
      forgotten: session.forgotten,
      ignored_by: session.ignoredBy ?? null,
    })),
    problem_counts: Object.fromEntries(outcome.problemCounts),
    ignored_counts: Object.fromEntries(outcome.ignoredCounts),
    problems: outcome.problems.map(({ line, code, message }) => ({
      line: line ?? null,
      code,
      message,
    })),
  };
}

export function toWireTotals(totals: Totals): WireTotals {
  const { created, grown, forgotten } = totals;
  return {
    files: { found: totals.found, ...totals.files },
    sessions: { new: created, grown, forgotten },
    ignored_by: Object.fromEntries(totals.ignoredBy),
    entries: totals.entries,
    bytes: totals.bytes,
    problems: Object.fromEntries(totals.problems),
    ignored: Object.fromEntries(totals.ignored),
    sources: Object.fromEntries(
      [...totals.sources].map(([name, source]) => [
        name,
        { files: source.files, new_sessions: source.created, entries: source.entries },
      ]),
    ),
  };
}

/** Skipped paths. */
export function toWireSkipped({ skipped }: IngestReport): Readonly<Record<string, number>> {
  const { links, special, unreadable, tooDeep } = skipped;
  return { links, special_files: special, unreadable, too_deep: tooDeep };
}
