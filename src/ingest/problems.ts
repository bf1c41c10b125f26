/** Problems of a reader: all are counted, the first ones kept with their lines. */

export type ImportProblemCode =
  /** Invalid JSON. */
  | "not_json"
  /** The last line is incomplete: it was being written, or truncated. */
  | "torn_line"
  /** Valid JSON, but unexpected in this place. */
  | "unexpected"
  | "line_too_long"
  /** A line over 1 MB: its long values were cut, with marks. */
  | "line_cut"
  /** The file expands beyond the limit; the part before it counts. */
  | "unpacks_too_far"
  /** The file could not be read to its end: damaged, truncated or deleted meanwhile. */
  | "unreadable"
  /** Bytes that are not UTF-8 became replacement characters. */
  | "not_utf8"
  /** The file lacks its header line. */
  | "missing_header"
  /** The parent is not in the file; the entry follows the previous one. */
  | "missing_parent"
  /** A repeated id; the first entry counts. */
  | "duplicate_id"
  /** A reference to an entry that is not in the file. */
  | "missing_reference"
  /** Longer than an entry may be: cut, with a mark. */
  | "entry_cut"
  /** A stored entry has other content by now: the new text became its sibling. */
  | "changed_entry"
  /** An older file of a session that was continued here: it became a branch. */
  | "late_file";

export interface ImportProblem {
  /** Counted from 1. */
  readonly line?: number;
  readonly code: ImportProblemCode;
  readonly message: string;
}

/** A file of a million bad lines must not take a million messages' memory. */
const KEPT = 100;

export class ProblemLog {
  readonly #first: ImportProblem[] = [];
  readonly #counts = new Map<ImportProblemCode, number>();
  readonly #ignored = new Map<string, number>();

  add(code: ImportProblemCode, message: string, line?: number): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    if (this.#first.length < KEPT) {
      this.#first.push(line === undefined ? { code, message } : { line, code, message });
    }
  }

  /** Adds another log's counts, and its kept problems as far as there is room. */
  take(other: ProblemLog): void {
    for (const [code, count] of other.counts) {
      this.#counts.set(code, (this.#counts.get(code) ?? 0) + count);
    }
    this.#first.push(...other.first.slice(0, KEPT - this.#first.length));
  }

  /**
   * Counts a known record that is skipped because it has no conversation content: a progress bar, a
   * copy of another record. Not a problem, but reported.
   */
  ignore(name: string): void {
    this.#ignored.set(name, (this.#ignored.get(name) ?? 0) + 1);
  }

  /** Counts of deliberately skipped records, by the source's type. */
  get ignored(): ReadonlyMap<string, number> {
    return this.#ignored;
  }

  /** The first hundred, in order. */
  get first(): readonly ImportProblem[] {
    return this.#first;
  }

  get counts(): ReadonlyMap<ImportProblemCode, number> {
    return this.#counts;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
}
