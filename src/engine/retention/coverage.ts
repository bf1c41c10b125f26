/** The entries that the newest compaction of a path and earlier ones cover. */

import type { Entry } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { EntryRecord, SessionSize } from "../../store/records.ts";
import { checkKey, checkList, tooLarge } from "../check.ts";
import { type CompactionView, viewCompaction } from "../compaction/compaction-entry.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";

export interface Coverage {
  /** The newest compaction of the path, and its sequence. */
  readonly compaction: string;
  readonly sequence: number;
  /** It covers its path up to this sequence. */
  readonly throughSequence: number;
  /** The entry up to which the path is already erased. */
  readonly doneThrough: string | undefined;
  /** Pinned entries that its summary leaves out. */
  readonly standing: ReadonlySet<string>;
  /** Entries that the summaries of earlier compactions left out. */
  readonly released: readonly string[];
  /** Summaries that its text consists of. */
  readonly summaries: ReadonlySet<string>;
}

/** `compactions` are the path's; undefined if none covers anything. */
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
  // Each is released after reading: a structure may be large.
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

/** Whether a summary predates the retention and may quote. */
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
 * By entry ids, because a fork's sequences differ. An imported compaction may name only its first
 * kept entry.
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

export async function sessionSizes(
  engine: EngineContext,
  ids: readonly string[],
): Promise<readonly SessionSize[]> {
  const keys = checkList(ids, "ids").map((id, i) => checkKey(id, `ids[${i}]`));
  if (keys.length > MAX_PAGE) throw tooLarge("ids", MAX_PAGE, keys.length, "ask for the rest next");
  return engine.store.readSessionSizes(engine.tenant, keys);
}
