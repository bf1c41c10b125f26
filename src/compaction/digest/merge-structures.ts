/** Merges two structures: the summary of two summaries, without reading their entries. */

import type { SummaryStructure } from "../summary.ts";
import { addSorted } from "./key-files.ts";
import { joinLedgers } from "./ledger.ts";
import { joinTimelines } from "./timeline.ts";

/** The bounds of each list: see `digest.ts`. */
const LIMITS = { cited: 3, keyFiles: 8, tools: 100 } as const;

/** `later` covers the entries after `earlier`. The result has the same bounds. */
export function mergeStructures(
  earlier: SummaryStructure,
  later: SummaryStructure,
): SummaryStructure {
  const sum = (key: keyof SummaryStructure["scope"]) => earlier.scope[key] + later.scope[key];
  const newest = <Item>(key: (structure: SummaryStructure) => readonly Item[]) =>
    [...key(earlier), ...key(later)].slice(-LIMITS.cited);
  return {
    version: 1,
    scope: {
      messages: sum("messages"),
      user: sum("user"),
      assistant: sum("assistant"),
      tool: sum("tool"),
    },
    tools: sorted(earlier.tools, later.tools, LIMITS.tools),
    requests: newest(({ requests }) => requests),
    pending: newest(({ pending }) => pending),
    keyFiles: sorted(earlier.keyFiles, later.keyFiles, LIMITS.keyFiles),
    currentWork: later.currentWork ?? earlier.currentWork,
    ...joinTimelines(earlier, later),
    ledger: joinLedgers(earlier.ledger, later.ledger),
  };
}

function sorted(a: readonly string[], b: readonly string[], max: number): string[] {
  const all = [...a];
  for (const value of b) addSorted(all, value, max);
  return all;
}
