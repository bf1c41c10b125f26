/** Maps the entries of a context to the planner's items. */

import type { PlanItem } from "../../compaction/plan-input.ts";
import { resultTokens } from "../../context/cut-results.ts";
import { fromEntry } from "../../context/sent-tokens.ts";
import type { TokenCounter } from "../../context/tokens.ts";
import { type Entry, replyToOf } from "../../model/entry.ts";
import { toolTraffic } from "../../transcript/tool-pairs.ts";

export function toPlanItem(entry: Entry, counter: TokenCounter): PlanItem {
  const { id, sequence, kind, role, pinned, blocks } = entry;
  const replyTo = role === "assistant" ? replyToOf(entry) : null;
  return {
    ...(replyTo === null ? {} : { replyTo }),
    id,
    sequence,
    kind,
    role,
    pinned,
    ...toolTraffic(blocks),
    tokens: fromEntry(entry, "recent", counter).tokens,
    resultTokens: resultTokens(blocks, counter),
  };
}
