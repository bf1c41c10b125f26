/** Stores a compaction: its entry, its summaries, and the session's copy. */

import type { CompactionPlan } from "../../compaction/plan.ts";
import type { ResultCut } from "../../context/cut-results.ts";
import type { Entry } from "../../model/entry.ts";
import type { JsonValue } from "../../model/json.ts";
import type { EngineContext } from "../engine-context.ts";
import { appendedEntry } from "../entry-view.ts";
import { type Draft, draftEntry } from "../message-input.ts";
import type { CheckedCompaction } from "./compact-options.ts";
import type { CompactionData, CompactionView } from "./compaction-entry.ts";
import type { CompactionGround } from "./compaction-ground.ts";
import { type CompactionKey, findRepeated } from "./replay-compaction.ts";
import type { WrittenSummary } from "./write-summary.ts";

/** Throws `compaction_conflict` if the summary's source has changed. */
export async function storeCompaction(
  engine: EngineContext,
  { session, previous }: CompactionGround,
  { profile, strategy }: CheckedCompaction,
  plan: CompactionPlan,
  written: WrittenSummary,
  key: CompactionKey | undefined,
): Promise<Entry> {
  const { text, structure, summarizer, model, nodes = [] } = written;
  const data: CompactionData = {
    firstKeptEntryId: plan.firstKeptEntryId,
    from: plan.from,
    through: plan.through,
    throughSequence: plan.throughSequence,
    covered: plan.covered.length,
    tokensBefore: plan.tokensBefore,
    tokensAfter: plan.tokensAfter,
    splitTurn: plan.splitTurn,
    pinned: plan.pinned,
    cuts: joinCuts(previous, plan),
    profile,
    summarizer,
    model,
    fromHook: summarizer === "hook",
    previous: previous?.entry.id ?? null,
    strategy,
    summaries: written.summaries ?? [],
    retention: session.retention,
    structure,
  };
  const draft = draftEntry(
    {
      kind: "compaction",
      blocks: [{ type: "text", text }],
      data: data as unknown as JsonValue,
      ...(key === undefined ? {} : { metadata: key.metadata }),
    },
    key?.id ?? engine.newId(),
    engine.now(),
  );
  const { covered, tokensBefore, tokensAfter, throughSequence } = data;
  const told = { covered, tokensBefore, tokensAfter, throughSequence, summarizer };
  const drafts: Draft[] = [
    ...nodes,
    { ...draft, entry: { ...draft.entry, model, feedDetails: told } },
  ];
  const result = await engine.store.append(engine.tenant, {
    sessionId: session.id,
    entries: drafts.map(({ entry }) => entry),
    now: engine.now(),
    summary: { text, through: plan.through, expectedCompaction: onPath(previous) },
    ...(key === undefined ? {} : { idempotency: key.idempotency }),
  });
  // Concurrent requests plan alike: the second gets the first one's stored result.
  if (result.replayed && key !== undefined) {
    const first = await findRepeated(engine, session.id, key);
    if (first !== undefined) return first;
  }
  const placed = result.entries.map((place, i) =>
    appendedEntry(session.id, drafts[i] as Draft, place),
  );
  return placed.at(-1) as Entry;
}

/** An off-path summary is part of the text, but not of the path. */
function onPath(previous: CompactionView | null): string | null {
  return previous === null || previous.isLeftBehind ? null : previous.entry.id;
}

/** Results that an earlier compaction cut stay cut while they are kept or pinned. */
function joinCuts(previous: CompactionView | null, plan: CompactionPlan): readonly ResultCut[] {
  const gone = new Set(plan.covered);
  const cuts = new Map(plan.cuts.map((cut) => [`${cut.entryId} ${cut.toolUseId}`, cut]));
  for (const [entryId, ofEntry] of previous?.cuts ?? []) {
    if (gone.has(entryId)) continue;
    for (const [toolUseId, keepTokens] of ofEntry) {
      const key = `${entryId} ${toolUseId}`;
      if (!cuts.has(key)) cuts.set(key, { entryId, toolUseId, keepTokens });
    }
  }
  return [...cuts.values()];
}
