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
  const entries = drafts.map(({ entry }, i) =>
    i === 0 && parent !== undefined ? { ...entry, parentId: parent } : entry,
  );
  checkBatch(entries);
  const result = await scope.store.append(scope.tenant, {
    sessionId,
    entries,
    now: scope.now(),
    ...(expectedLeaf === undefined ? {} : { expectedLeaf }),
    ...idempotency(idempotencyKey, ["append", requestOf(entries), expectedLeaf ?? null]),
  });
  if (result.replayed) {
    const ids = result.entries.map((placed) => placed.id);
    const page = await scope.store.findEntries(scope.tenant, ids, true);
    return page.entries.map((record) => toEntry(record, page.payloads));
  }
  return result.entries.map((placed, i) => appendedEntry(sessionId, drafts[i] as Draft, placed));
}
