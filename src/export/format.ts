/**
 * The port of an export format: entries in, pieces of text out.
 *
 * Foreign formats cannot hold all of a session. Losses are counted by name while writing, and the
 * export reports them.
 */

import type { Entry } from "../model/entry.ts";
import type { Session } from "../model/session.ts";

export interface ExportFormat {
  readonly name: string;
  /** Every branch in the order of writing, or the path to a leaf. */
  readonly selects: "tree" | "path";
  /**
   * Whether a compacted session is written as its summary and the rest, unless everything is
   * requested.
   */
  readonly compacts: boolean;
  write(input: ExportInput, losses: LossLog): AsyncIterable<string>;
}

export interface ExportInput {
  readonly session: Session;
  /** Iterates from the first entry; restartable. */
  readonly entries: () => AsyncIterable<Entry>;
  /** The end of the written path. */
  readonly leaf: string | null;
  /** The number of omitted branches. */
  readonly branchesLeftOut: number;
  /** All messages of the path, including covered ones. */
  readonly full: boolean;
}

export interface Loss {
  /** A plural, such as `branches` or `images`. */
  readonly what: string;
  readonly count: number;
}

export class LossLog {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    if (count > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  get all(): readonly Loss[] {
    return [...this.#counts].map(([what, count]) => ({ what, count }));
  }
}

/** Names of entry kinds without a counterpart. */
const KINDS: Readonly<Record<string, string>> = {
  branch_summary: "branch summaries",
  summary: "summaries",
  custom: "custom entries",
  label: "labels",
  model_change: "model changes",
  thinking_level_change: "changes of the thinking level",
  session_info: "session names",
};

export function countKind({ kind }: Pick<Entry, "kind">, losses: LossLog): void {
  losses.add(KINDS[kind] ?? `${kind} entries`);
}
