/** Appends entries atomically. */

import type { Entry } from "../model/entry.ts";
import type { AppendRequest, AppendResult } from "../store/records.ts";
import { invalid } from "./check.ts";
import {
  cachedContextSize,
  isUnmeasured,
  takeContextSize,
  withEstimates,
} from "./context/estimate-calls.ts";
import type { EngineContext } from "./engine-context.ts";
import { appendedEntry, toEntry } from "./entry-view.ts";
import { idempotency } from "./idempotency.ts";
import { checkBatch, type Draft, requestOf } from "./message-input.ts";

export interface AppendOptions {
  /**
   * Compare-and-swap: fails with `stale_leaf` unless this is the active leaf (null: the session is
   * empty).
   */
  readonly expectedLeaf?: string | null;
  /** The entry to continue from (null: a new root). Default: the active leaf. */
  readonly parent?: string | null;
  /** For seven days, a repeated request with the same key is carried out once. */
  readonly idempotencyKey?: string;
}

/** Options that only the engine may set. */
export interface OwnAppendOptions extends Pick<AppendRequest, "guard" | "replaced"> {
  /** The identity of the request under its key. Default: the drafts. */
  readonly request?: unknown;
  readonly isLasting?: boolean;
}

/** Gives the stored entries, in the order of the drafts. Callers have checked the options. */
export async function appendDrafts(
  engine: EngineContext,
  sessionId: string,
  drafts: readonly Draft[],
  options: AppendOptions = {},
  own: OwnAppendOptions = {},
): Promise<Entry[]> {
  if (drafts.length === 0 && own.replaced === undefined) {
    throw invalid("messages", "messages is empty; append at least one");
  }
  const { parent } = options;
  const placed = parent === undefined ? drafts : drafts.map((draft, i) => under(draft, i, parent));
  checkBatch(placed.map((draft) => draft.entry));
  // Only a model call without usage waits, for its context size. Later appends of its session wait
  // too (keyed mutex), so that unawaited appends keep their order.
  const key = `append\0${engine.tenant}\0${sessionId}`;
  const hasCall = placed.some(({ entry }) => isUnmeasured(entry));
  const store = () => storeDrafts(engine, sessionId, placed, hasCall, options, own);
  const result = await (hasCall || engine.queue.isBusy(key)
    ? engine.queue.run(key, store)
    : store());
  if (result.replayed) {
    return readEntries(
      engine,
      result.entries.map((place) => place.id),
    );
  }
  return result.entries.map((place, i) => appendedEntry(sessionId, placed[i] as Draft, place));
}

/** The entries with these ids, in the order of the ids; unknown ones are left out. */
export async function readEntries(
  { store, tenant }: EngineContext,
  ids: readonly string[],
): Promise<Entry[]> {
  if (ids.length === 0) return [];
  const page = await store.findEntries(tenant, ids, true);
  return page.entries.map((record) => toEntry(record, page.payloads));
}

/** Plans the estimates, executes the append in the store, and updates the cache of sizes. */
async function storeDrafts(
  engine: EngineContext,
  sessionId: string,
  drafts: readonly Draft[],
  hasCall: boolean,
  { expectedLeaf, parent, idempotencyKey }: AppendOptions,
  { guard, replaced, request, isLasting = false }: OwnAppendOptions,
): Promise<AppendResult> {
  const { contextSizes, counter, store, tenant } = engine;
  const size = hasCall
    ? await takeContextSize(engine, sessionId, parent)
    : cachedContextSize(engine, sessionId, parent);
  const plan = size === undefined ? undefined : withEstimates(drafts, size, counter);
  const leaf = expectedLeaf === undefined ? "any" : expectedLeaf;
  const result = await store.append(tenant, {
    sessionId,
    entries: (plan?.drafts ?? drafts).map((draft) => draft.entry),
    now: engine.now(),
    ...(expectedLeaf === undefined ? {} : { expectedLeaf }),
    ...(guard === undefined ? {} : { guard }),
    ...(replaced === undefined ? {} : { replaced }),
    ...idempotency(
      idempotencyKey,
      () => ["append", request ?? drafts.map(requestOf), leaf],
      isLasting,
    ),
  });
  if (size !== undefined && plan !== undefined) {
    contextSizes.observe(tenant, sessionId, size, plan.tokens, result);
  }
  return result;
}

/** The first is put under `parent`; the others follow it. */
function under(draft: Draft, index: number, parent: string | null): Draft {
  return index > 0 ? draft : { ...draft, entry: { ...draft.entry, parentId: parent } };
}
