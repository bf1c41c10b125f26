/** Entries that stay in the context whatever is summarised: pinned ones, and their tool pairs. */

import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { toEntry } from "../entry-view.ts";
import type { Scope } from "../scope.ts";
import type { CompactionView } from "./compaction-entry.ts";
import { asShown } from "./read-context.ts";

/**
 * What is pinned on the path, or was when the newest compaction was made (until the next one decides
 * anew), in order; what is `present` in the context anyway is left out.
 */
export async function readStanding(
  scope: Scope,
  sessionId: string,
  compaction: CompactionView | null,
  present: ReadonlySet<string>,
  leaf: string | undefined,
): Promise<readonly Entry[]> {
  const marked = await scope.store.readEntries(scope.tenant, {
    select: "marked",
    sessionId,
    mark: "pinned",
    leaf: leaf ?? null,
    limit: MAX_PAGE,
    payloads: true,
  });
  const pinned = marked.entries.map((record) => toEntry(record, marked.payloads));
  const kept = compaction?.pinned ?? [];
  const missing = kept.filter((id) => !pinned.some((entry) => entry.id === id));
  const rest =
    missing.length === 0 ? undefined : await scope.store.findEntries(scope.tenant, missing, true);
  const others = (rest?.entries ?? []).map((record) =>
    toEntry(record, rest?.payloads ?? new Map()),
  );
  return [...pinned, ...others]
    .filter((entry) => entry.sessionId === sessionId && !present.has(entry.id))
    .filter((entry) => entry.status === "committed" && entry.blocks.length > 0)
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((entry) => asShown(entry, compaction, scope.counter));
}
