/** Losses of an export, counted by name. */

import type { Entry } from "../model/entry.ts";

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
