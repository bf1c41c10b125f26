/** The entries that the newest compaction of a path and earlier ones cover. */

import type { Entry } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import type { EntryRecord } from "../../store/records.ts";
import { type CompactionView, viewCompaction } from "../compaction/compaction-entry.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";

export interface Coverage {
  /** The newest compaction of the path, and its sequence. */
  readonly compaction: string;
  readonly sequence: number;
  /** It covers the entries of its path up to this sequence. */
  readonly throughSequence: number;
  /** The entry up to which the path was erased before. */
  readonly doneThrough: string | undefined;
  /** Entries that it left out of its summary by their pins. */
  readonly standing: ReadonlySet<string>;
  /** Entries that earlier ones had left out. */
  readonly released: readonly string[];
  /** Summaries that its text consists of. */
  readonly summaries: ReadonlySet<string>;
}

/** `compactions` are those of the path; undefined if there is none that covers anything. */
export async function readCoverage(
  engine: EngineContext,
  sessionId: string,
  compactions: readonly EntryRecord[],
  appliedThrough: number,
): Promise<Coverage | undefined> {
  const newest = compactions.at(-1);
  if (newest === undefined) return undefined;
  const applied = compactions.findLast(({ sequence }) => sequence <= appliedThrough);
  const view = await readCompaction(engine, newest.id);
  const throughSequence = view && (await boundaryOf(engine, sessionId, view));
  if (view === undefined || throughSequence === undefined) return undefined;
  const standing = new Set(view.pinned);
  const released = new Set<string>();
  // Each is read and let go: a structure may be large.
  for (const { id, sequence } of compactions) {
    if (id === newest.id || sequence < (applied?.sequence ?? 0)) continue;
    for (const pinned of (await readCompaction(engine, id))?.pinned ?? []) {
      if (!standing.has(pinned)) released.add(pinned);
    }
  }
  const done = applied && (await readCompaction(engine, applied.id));
  return {
    compaction: newest.id,
    sequence: newest.sequence,
    throughSequence,
    doneThrough: done === undefined ? undefined : stringOf(done.entry, "through"),
    standing,
    released: [...released],
    summaries: new Set(view.summaries),
  };
}

/** Whether a summary predates the retention, and so may quote. */
export function mayQuote({ data }: Entry): boolean {
  const retention = isPlainObject(data) ? data["retention"] : undefined;
  return retention !== "audit-only" && retention !== "ephemeral";
}

async function readCompaction(
  engine: EngineContext,
  id: string,
): Promise<CompactionView | undefined> {
  const page = await engine.store.findEntries(engine.tenant, [id], true);
  const record = page.entries[0];
  if (record === undefined || record.content === null) return undefined;
  return viewCompaction(toEntry(record, page.payloads));
}

/**
 * By entry ids: a fork's sequences differ from the original's. An imported compaction may name only
 * the first entry that it kept.
 */
async function boundaryOf(
  engine: EngineContext,
  sessionId: string,
  { entry, firstKeptEntryId }: CompactionView,
): Promise<number | undefined> {
  const through = stringOf(entry, "through");
  const ids = [through, firstKeptEntryId].filter((id) => typeof id === "string");
  const page = await engine.store.findEntries(engine.tenant, ids, false);
  const own = page.entries.filter(
    (record) => record.sessionId === sessionId && record.sequence < entry.sequence,
  );
  const sequenceOf = (id: string | null | undefined) =>
    own.find((record) => record.id === id)?.sequence;
  const kept = sequenceOf(firstKeptEntryId);
  const covered = sequenceOf(through);
  if (firstKeptEntryId === null) return covered ?? entry.sequence - 1;
  // The kept entry is missing: the coverage is unknown.
  return kept === undefined ? undefined : Math.min(kept - 1, covered ?? kept - 1);
}

function stringOf({ data }: Entry, field: string): string | undefined {
  const value = isPlainObject(data) ? data[field] : undefined;
  return typeof value === "string" ? value : undefined;
}
