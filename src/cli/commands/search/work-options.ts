/** Options and output that `recap` and `trace` share. */

import { MAX_HITS } from "../../../model/limits.ts";
import type { FilterFields, FiltersOf } from "../../../model/session-filters.ts";
import { usageError } from "../../command.ts";
import type { Terminal } from "../../terminal.ts";
import { clean, wrapLine } from "../../text.ts";
import { given, toCount, toPeriod } from "../../values.ts";
import { filterOptions, toFilters, UNTIL } from "../filter-options.ts";

type WorkOption = "since" | "until" | "project" | "repo" | "agent" | "workstation" | "limit";

/** `sessions` is the default number of sessions. */
export function workOptions(
  sessions: number,
): Readonly<Record<WorkOption, { readonly type: "string"; value: string; help: string }>> {
  return {
    since: { type: "string", value: "TIME", help: "From then on: yesterday, 7d, 2026-05-04." },
    until: UNTIL,
    ...filterOptions("project", "repo", "agent", "workstation"),
    limit: {
      type: "string",
      value: "N",
      help: `Sessions, the newest: at most ${MAX_HITS}, ${sessions} if left out.`,
    },
  };
}

export interface WorkInput extends FilterFields<FiltersOf<"related">, string> {
  readonly since?: Date;
  readonly until?: Date;
  readonly limit?: number;
}

export function toWorkInput(
  options: Readonly<Partial<Record<WorkOption, string | undefined>>>,
): WorkInput {
  const limit = toCount(options.limit, "--limit");
  if (limit !== undefined && (limit < 1 || limit > MAX_HITS)) {
    throw usageError(`--limit must be 1 to ${MAX_HITS}`, "--limit");
  }
  return {
    ...toFilters("related", options),
    ...given({ limit }),
    ...toPeriod(options),
  };
}

/** Each part on separate lines, wrapped to the terminal, with an empty line between two. */
export async function printParts(terminal: Terminal, parts: readonly string[]): Promise<void> {
  for (const [i, part] of parts.entries()) {
    if (i > 0) await terminal.print();
    for (const line of clean(part).replaceAll("\t", " ").split("\n")) {
      for (const wrapped of wrapLine(line, terminal.columns)) await terminal.print(wrapped);
    }
  }
}
