/** The session's new summary, if a batch begins with a compaction. */

import type { AppendRequest, NewEntry } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import type { Waiting } from "./import-setting.ts";
import type { ImportedIds } from "./imported-id.ts";

export async function newSummary(
  engine: EngineContext,
  ids: ImportedIds,
  leaf: string | null,
  batch: {
    /** The first entry to store, and the first that was read. */
    readonly draft: NewEntry | undefined;
    readonly first: Waiting | undefined;
    /** The summary before an entry. */
    readonly textAt: (id: string) => string | undefined;
  },
): Promise<Pick<AppendRequest, "summary">> {
  const { draft, first, textAt } = batch;
  if (draft === undefined || first?.entry.kind !== "compaction" || draft.id !== first.id) return {};
  const kept = first.entry.data?.["firstKeptEntryId"];
  // An entry without a parent follows the leaf.
  const parent = draft.parentId === undefined ? leaf : draft.parentId;
  const through = typeof kept === "string" ? await parentOf(engine, ids.of(kept)) : parent;
  const text = textAt(draft.id);
  return typeof through === "string" && text !== undefined ? { summary: { text, through } } : {};
}

async function parentOf({ store, tenant }: EngineContext, id: string): Promise<string | null> {
  const [record] = (await store.findEntries(tenant, [id], false)).entries;
  return record?.parentId ?? null;
}
