/** The summaries that an import meets: those of the file's compactions. */

import { KEPT_IDS } from "../../ingest/kept-counts.ts";
import { type ImportedEntry, UNREADABLE_SUMMARY } from "../../ingest/source.ts";
import { textOf } from "../../model/block.ts";
import { MAX_SUMMARY_BYTES } from "../../model/limits.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { AppendRequest, NewEntry } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { toText } from "./import-draft.ts";

export class ImportSummaries {
  /** The text of the last compaction before an entry; absent if none. */
  readonly #texts = new RecentMap<string, string>(KEPT_IDS);
  /** Those of the current batch; they count once it is stored. */
  #batch = new Map<string, string>();

  at(id: string | null): string | undefined {
    return id === null ? undefined : (this.#batch.get(id) ?? this.#texts.get(id));
  }

  begin(): void {
    this.#batch = new Map();
  }

  commit(): void {
    for (const [id, text] of this.#batch) this.#texts.set(id, text);
  }

  set(id: string, text: string): void {
    this.#texts.set(id, text);
  }

  note(entry: ImportedEntry, id: string, parentId: string | null): void {
    const isOwn = entry.kind === "compaction" && entry.data?.[UNREADABLE_SUMMARY] !== true;
    const text = isOwn ? toText(textOf(entry.blocks), MAX_SUMMARY_BYTES) : this.at(parentId);
    if (text !== undefined) this.#batch.set(id, text);
  }

  /** The session's new summary, if a batch begins with a compaction. */
  async newOne(
    { store, tenant }: EngineContext,
    leaf: string | null,
    batch: {
      /** The first entry to store, and the first that was read. */
      readonly draft: NewEntry | undefined;
      readonly first: ImportedEntry | undefined;
      readonly idOf: (sourceId: string) => string;
    },
  ): Promise<Pick<AppendRequest, "summary">> {
    const { draft, first, idOf } = batch;
    // Only the first entry of a batch can be a compaction.
    if (draft?.kind !== "compaction") return {};
    const kept = first?.data?.["firstKeptEntryId"];
    // An entry without a parent follows the leaf.
    let through = draft.parentId === undefined ? leaf : draft.parentId;
    if (typeof kept === "string") {
      const [record] = (await store.findEntries(tenant, [idOf(kept)], false)).entries;
      through = record?.parentId ?? null;
    }
    const text = this.at(draft.id);
    return typeof through === "string" && text !== undefined ? { summary: { text, through } } : {};
  }
}
