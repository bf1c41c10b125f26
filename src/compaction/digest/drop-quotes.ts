/**
 * A structure without quoted text, for sessions whose retention erases it.
 *
 * Requests, open work, commands and the timeline quote covered messages. Counts, entry ranges,
 * tools and files remain.
 */

import type { SummaryStructure } from "../summary.ts";
import { joinFolds } from "./timeline.ts";

export function dropQuotes(structure: SummaryStructure): SummaryStructure {
  const { folded, timeline, ledger } = structure;
  return {
    ...structure,
    requests: [],
    pending: [],
    currentWork: null,
    folded: joinFolds(folded, timeline),
    timeline: [],
    ledger: {
      ...ledger,
      commands: [],
      earlierCommands: ledger.earlierCommands + ledger.commands.length,
    },
  };
}
