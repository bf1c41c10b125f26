/**
 * Sums the tokens that imported calls wrote to caches of an hour, by model, for the session's
 * metadata: an entry's usage has no column for them.
 */

import type { ImportedEntry } from "../../ingest/source.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { HOUR_CACHE_KEY } from "../../model/session.ts";
import type { NewEntry } from "../../store/records.ts";
import { knownName } from "./import-draft.ts";
import type { Waiting } from "./import-setting.ts";

export class HourTokens {
  readonly #stored = new Map<string, number>();
  readonly #read = new Map<string, number>();

  /** The metadata of a new session with all of these entries. */
  static sumOf(entries: readonly ImportedEntry[]): JsonObject {
    const all = new HourTokens();
    all.note(
      entries.map((entry) => ({ entry, id: "" })),
      [],
    );
    return all.patch({});
  }

  /** Counts a batch; `drafts` are those of its entries that were stored just now. */
  note(batch: readonly Waiting[], drafts: readonly NewEntry[]): void {
    for (const { entry, id } of batch) {
      if (!(HOUR_CACHE_KEY in entry.metadata) || entry.copiedFrom !== undefined) continue;
      add(this.#read, entry, entry.usage);
      const draft = drafts.find((each) => each.id === id);
      if (draft !== undefined) add(this.#stored, entry, draft.usage);
    }
  }

  /** The change of the session's metadata; empty if there is none. */
  patch(metadata: JsonObject): JsonObject {
    const before = isPlainObject(metadata[HOUR_CACHE_KEY]) ? metadata[HOUR_CACHE_KEY] : {};
    const sums = { ...before };
    for (const [model, read] of this.#read) {
      const known = Object.hasOwn(before, model) ? Number(before[model]) : 0;
      // An interrupted import, or an earlier version, may have stored calls without their sum.
      sums[model] = Math.max(known + (this.#stored.get(model) ?? 0), read);
    }
    const isSame = Object.entries(sums).every(([model, sum]) => before[model] === sum);
    return isSame ? {} : { [HOUR_CACHE_KEY]: sums };
  }
}

/** Each line of an answer tells the number; the one that has the usage counts. */
function add(sums: Map<string, number>, entry: ImportedEntry, usage: Usage | null): void {
  const told = Number(entry.metadata[HOUR_CACHE_KEY]);
  const tokens = Math.min(told, usage?.cacheCreationTokens ?? 0);
  const model = knownName(entry.model) ?? "";
  if (tokens > 0) sums.set(model, (sums.get(model) ?? 0) + tokens);
}
