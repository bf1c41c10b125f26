/** Arbitrary answers of searches, contexts and compactions. */

import fc from "fast-check";
import type { CompactionPlan } from "../compaction/plan.ts";
import type { ContextMessage } from "../context/message.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { Summary } from "../engine/compaction/summarize.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import type { Recalled } from "../engine/context/recall.ts";
import type { ContextUsage } from "../engine/context/usage.ts";
import type { SearchResult } from "../engine/search.ts";
import type { SearchHit, WindowItem } from "../search/request.ts";
import {
  type Any,
  blocks,
  count,
  entry,
  exact,
  fact,
  flag,
  number,
  role,
  roleOrNull,
  text,
  textOrNull,
  texts,
  time,
  usage,
} from "./round-trip.cases.ts";

const windowItem: Any<WindowItem> = fc.record(
  {
    entryId: text,
    index: count,
    role: roleOrNull,
    actor: textOrNull,
    createdAt: time,
    snippet: text,
    truncated: flag,
    toolName: textOrNull,
    found: flag,
    matches: fc.array(fc.record({ start: count, end: count }, exact), { maxLength: 2 }),
  },
  exact,
);
const window = fc.array(windowItem, { maxLength: 3 });

export const hit: Any<SearchHit> = fc.record(
  {
    sessionId: text,
    shortId: text,
    entryId: textOrNull,
    index: fc.option(count, { nil: null }),
    leaf: textOrNull,
    branch: fc.constantFrom("late", "left", null),
    score: number,
    similarity: number,
    window,
    meta: fc.record(
      {
        title: text,
        agent: text,
        createdAt: time,
        updatedAt: time,
        messageCount: count,
        lateBranches: count,
      },
      exact,
    ),
    parts: fc.record(
      { message: number, neighbours: number, session: number, boost: number, coverage: number },
      exact,
    ),
  },
  {
    ...exact,
    requiredKeys: [
      "sessionId",
      "shortId",
      "entryId",
      "index",
      "leaf",
      "branch",
      "score",
      "window",
      "meta",
    ],
  },
);

export const searchResult: Any<SearchResult> = fc.record(
  {
    hits: fc.array(hit, { maxLength: 3 }),
    notes: texts,
    indexing: flag,
    degraded: flag,
    partial: flag,
    explanation: fc.record(
      {
        terms: fc.array(fc.record({ term: text, documents: count, weight: number }, exact)),
        documents: count,
        averageLength: number,
        segments: count,
        candidates: count,
      },
      exact,
    ),
  },
  { ...exact, requiredKeys: ["hits", "notes", "indexing", "degraded", "partial"] },
);

export const recalled: Any<Recalled> = fc.oneof(
  fc.record({ type: fc.constant("fact" as const), fact }, exact),
  fc.record({ type: fc.constant("message" as const), entry, score: number, window }, exact),
);

const part = fc.constantFrom("pinned", "summary", "facts", "recalled", "recent") as Any<
  ContextMessage["part"]
>;
export const context: Any<BuiltContext> = fc.record(
  {
    messages: fc.array(
      fc.record(
        {
          role,
          actor: textOrNull,
          blocks,
          part,
          entryIds: texts,
          model: textOrNull,
          aborted: fc.constant(true),
        },
        { ...exact, requiredKeys: ["role", "actor", "blocks", "part", "entryIds", "model"] },
      ),
      { maxLength: 3 },
    ),
    omitted: fc.array(
      fc.record(
        {
          part,
          reason: fc.constantFrom("budget" as const, "recent_turns" as const),
          count,
          tokens: fc.option(count, { nil: null }),
          ids: texts,
        },
        exact,
      ),
      { maxLength: 2 },
    ),
    tokens: count,
    shortened: count,
  },
  exact,
);

export const compactionResult: Any<CompactionResult> = fc.record(
  {
    entry: fc.option(entry, { nil: null }),
    summary: textOrNull,
    removed: count,
    firstKeptEntryId: textOrNull,
    tokensBefore: count,
    tokensAfter: count,
    erased: count,
  },
  exact,
);

const cuts = fc.array(fc.record({ entryId: text, toolUseId: text, keepTokens: count }, exact), {
  maxLength: 2,
});

export const plan: Any<CompactionPlan> = fc.record(
  {
    covered: texts,
    pinned: texts,
    from: text,
    through: text,
    throughSequence: count,
    firstKeptEntryId: textOrNull,
    splitTurn: flag,
    cuts,
    tokensBefore: count,
    tokensAfter: count,
    gainTokens: fc.integer(),
  },
  exact,
);

export const summary: Any<Summary> = fc.record(
  {
    id: text,
    from: text,
    through: text,
    text,
    model: textOrNull,
    tokens: count,
    parent: textOrNull,
    level: count,
    stale: flag,
    createdAt: time,
    kind: fc.constantFrom("summary" as const, "compaction" as const),
  },
  exact,
);

export const contextUsage: Any<ContextUsage> = fc.record(
  {
    contextTokens: count,
    estimatedTokens: count,
    estimated: flag,
    reportedBy: textOrNull,
    billed: usage,
    compaction: textOrNull,
  },
  exact,
);
