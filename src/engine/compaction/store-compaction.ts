/** Stores a compaction: its entry, its summaries, and the session's copy. */

import type { CompactionPlan } from "../../compaction/plan.ts";
import type { ResultCut } from "../../context/cut-results.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import type { Idempotency } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { appendedEntry, toEntry } from "../entry-view.ts";
import { idempotency } from "../idempotency.ts";
import { ImportedIds } from "../import/imported-id.ts";
import { type Draft, draftEntry } from "../message-input.ts";
import type { CheckedCompaction, CompactInput } from "./compact-options.ts";
import type { CompactionData, CompactionView } from "./compaction-entry.ts";
import type { CompactionGround } from "./compaction-ground.ts";
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

/**
 * Replays a compaction under its idempotency key, such as for a caller that lost the answer.
 *
 * A plan after the compaction would differ from the first one, so the key is looked up before
 * planning. The entry's id is derived from the key, and the entry stores the request.
 */

/** The metadata field with the hash of the request. */
const REQUEST = "idempotency";

export interface CompactionKey {
  /** The id of the compaction's entry, derived from the key. */
  readonly id: string;
  readonly idempotency: Idempotency;
  readonly metadata: JsonObject;
}

/** Undefined without a key. Functions cannot be compared and are ignored. */
export function compactionKey(sessionId: string, input: CompactInput): CompactionKey | undefined {
  const { idempotencyKey, signal: _, before: __, summarizer, ...asked } = input;
  const how = typeof summarizer === "object" ? "own" : summarizer;
  const { idempotency: made } = idempotency(idempotencyKey, () => ["compact", asked, how]);
  if (made === undefined) return undefined;
  const id = new ImportedIds(`compaction/${sessionId}`).of(made.key);
  return { id, idempotency: made, metadata: { [REQUEST]: made.requestHash } };
}

/** The stored entry of the same request; throws `idempotency_conflict` for another request. */
export async function findRepeated(
  engine: EngineContext,
  sessionId: string,
  { id, idempotency: asked }: CompactionKey,
): Promise<Entry | undefined> {
  const page = await engine.store.findEntries(engine.tenant, [id], true);
  const [record] = page.entries;
  if (record === undefined || record.sessionId !== sessionId) return undefined;
  const entry = toEntry(record, page.payloads);
  if (entry.metadata[REQUEST] === asked.requestHash) return entry;
  throw new BackscrollError(
    "idempotency_conflict",
    `the key "${asked.key.slice(0, 80)}" was used for another compaction; use a new key`,
    { details: { key: asked.key } },
  );
}

/** The first call's result, without the erased entries. */
export function figuresOf(entry: Entry): {
  readonly removed: number;
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
} {
  const data: JsonObject = isPlainObject(entry.data) ? (entry.data as JsonObject) : {};
  const count = (name: string) => (typeof data[name] === "number" ? data[name] : 0);
  const first = data["firstKeptEntryId"];
  return {
    removed: count("covered"),
    firstKeptEntryId: typeof first === "string" ? first : null,
    tokensBefore: count("tokensBefore"),
    tokensAfter: count("tokensAfter"),
  };
}
