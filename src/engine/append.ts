/** Appending: one request, all or nothing. */

import type { Entry } from "../model/entry.ts";
import { checkKeyOrNull, invalid } from "./check.ts";
import { appendedEntry, toEntry } from "./entry-view.ts";
import { idempotency } from "./idempotency.ts";
import { checkBatch, type Draft, requestOf } from "./message-input.ts";
import type { Scope } from "./scope.ts";

export interface AppendOptions {
  /** Fails with `stale_leaf` unless this is the active leaf (null: the session is empty). */
  readonly expectedLeaf?: string | null;
  /** The entry to continue from (null: a new start); the active leaf if left out. */
  readonly parent?: string | null;
  /** The same request under the same key is carried out once, for seven days. */
  readonly idempotencyKey?: string;
}

/** Gives the entries as they are stored, in the order of the drafts. */
export async function appendDrafts(
  scope: Scope,
  sessionId: string,
  drafts: readonly Draft[],
  options: AppendOptions = {},
): Promise<Entry[]> {
  if (drafts.length === 0) throw invalid("messages", "messages is empty; append at least one");
  const { expectedLeaf, parent, idempotencyKey } = options;
  if (expectedLeaf !== undefined) checkKeyOrNull(expectedLeaf, "expectedLeaf");
  if (parent !== undefined) checkKeyOrNull(parent, "parent");
  const placed = parent === undefined ? drafts : drafts.map((draft, i) => under(draft, i, parent));
  checkBatch(placed.map((draft) => draft.entry));
  const leaf = expectedLeaf === undefined ? "any" : expectedLeaf;
  const store = (ready: readonly Draft[]) =>
    scope.store.append(scope.tenant, {
      sessionId,
      entries: ready.map((draft) => draft.entry),
      now: scope.now(),
      ...(expectedLeaf === undefined ? {} : { expectedLeaf }),
      ...idempotency(idempotencyKey, () => ["append", placed.map(requestOf), leaf]),
    });
  const result = await scope.estimates.append(scope, sessionId, placed, parent, store);
  if (result.replayed) {
    const ids = result.entries.map((place) => place.id);
    const page = await scope.store.findEntries(scope.tenant, ids, true);
    return page.entries.map((record) => toEntry(record, page.payloads));
  }
  return result.entries.map((place, i) => appendedEntry(sessionId, placed[i] as Draft, place));
}

/** The first is put under `parent`; the others follow it. */
function under(draft: Draft, index: number, parent: string | null): Draft {
  return index > 0 ? draft : { ...draft, entry: { ...draft.entry, parentId: parent } };
}
