/**
 * A structure without anything that was said, for sessions that are to forget it.
 *
 * Requests, open work, commands and the timeline quote the messages that a summary covers. What stays
 * is counted or named: how many messages of whom, between which entries, which tools, which files.
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
