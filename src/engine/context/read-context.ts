/**
 * Reads the entries of the context, from the leaf backwards.
 *
 * They begin at the first entry that the newest compaction of the path kept. Reading stops there,
 * or as soon as the caller has enough, so the cost does not depend on the session's length.
 */

import { cutResults } from "../../context/cut-results.ts";
import type { TokenCounter } from "../../context/tokens.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { EntryPage } from "../../store/entry-query.ts";
import { type CompactionView, viewCompaction } from "../compaction/compaction-entry.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";

export interface ContextEntries<Item = Entry> {
  /** The newest compaction on the path. */
  readonly compaction: CompactionView | null;
  /** The entries of the context, in order, without compactions; long results cut as recorded. */
  readonly entries: readonly Item[];
  /** Messages between the first kept entry and `entries[0]` that were not read. */
  readonly unread: number;
  /** Whether the session has pinned entries, on any path. */
  readonly hasPins: boolean;
}

export interface ReadContextOptions {
  readonly leaf?: string | undefined;
  readonly counter: TokenCounter;
  /**
   * Called with each entry, newest first, and whether it precedes the newest compaction; true stops
   * reading.
   */
  readonly isEnough?: (entry: Entry, isBeforeCompaction: boolean) => boolean;
  /** The size of the first page. Default 32. */
  readonly firstPage?: number;
  /** False: do not search for a compaction beyond the read entries. */
  readonly summary?: boolean;
}

/** The first page is small: most callers need little, and a message may be large. */
const FIRST_PAGE = 32;
const NEXT_PAGE = 128;

export function readContext(
  engine: EngineContext,
  sessionId: string,
  options: ReadContextOptions,
): Promise<ContextEntries> {
  return readContextAs(engine, sessionId, options, (entry) => entry);
}

/** As `readContext`, keeping only `toItem` of each entry, so that content is released. */
export async function readContextAs<Item>(
  engine: EngineContext,
  sessionId: string,
  options: ReadContextOptions,
  toItem: (entry: Entry) => Item,
): Promise<ContextEntries<Item>> {
  const newestFirst: Item[] = [];
  let compaction: CompactionView | null = null;
  let boundary: Boundary | undefined;
  let isSought = false;
  let limit = options.firstPage ?? FIRST_PAGE;
  let marks: NonNullable<EntryPage["marks"]> = { summary: true, pinned: true };
  const done = (unread: number) => ({
    compaction,
    entries: newestFirst.reverse(),
    unread: Math.max(0, unread),
    hasPins: marks.pinned,
  });
  for await (const page of pagesBackwards(engine, sessionId, options.leaf, () => limit)) {
    limit = NEXT_PAGE;
    marks = page.marks ?? marks;
    for (const entry of page.entries) {
      // Sequences grow along a path, so this also stops if the first kept entry is on another path.
      if (boundary !== undefined && entry.sequence < boundary.sequence) return done(0);
      if (entry.erased) {
        if (compaction !== null || isSought) continue;
        // Retention may erase entries that a compaction on another branch covers. A permanently
        // removed entry has no compaction.
        isSought = true;
        compaction = await findForgotten(engine, sessionId, options.leaf);
        if (compaction !== null) return done(0);
        continue;
      }
      if (entry.kind === "compaction") {
        // The newest compaction includes older ones.
        if (compaction !== null) continue;
        compaction = viewCompaction(entry);
        boundary = await findBoundary(engine, compaction);
        continue;
      }
      newestFirst.push(toItem(asShown(entry, compaction, options.counter)));
      if (!options.isEnough?.(entry, compaction !== null)) continue;
      if (compaction === null && options.summary !== false && marks.summary) {
        compaction =
          (await findCompaction(engine, sessionId, options.leaf)) ??
          (await findForgotten(engine, sessionId, options.leaf));
        if (compaction !== null) boundary = await findBoundary(engine, compaction);
      }
      return done((entry.index ?? 0) - (boundary?.index ?? 0));
    }
  }
  return done(0);
}

/** The entry as shown: with the compaction's cuts. */
export function asShown(
  entry: Entry,
  compaction: CompactionView | null,
  counter: TokenCounter,
): Entry {
  const cuts = compaction?.cuts.get(entry.id);
  if (cuts === undefined) return entry;
  return { ...entry, blocks: cutResults(entry.blocks, cuts, counter) };
}

export function idsOf(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(entries.map((entry) => entry.id));
}

/** Pages of context entries, newest first. */
async function* pagesBackwards(
  engine: EngineContext,
  sessionId: string,
  leaf: string | undefined,
  limit: () => number,
): AsyncGenerator<{ readonly entries: Entry[]; readonly marks: EntryPage["marks"] }> {
  let before: string | undefined;
  for (;;) {
    const wanted = limit();
    const page = await engine.store.readEntries(engine.tenant, {
      select: "history",
      sessionId,
      ...(leaf === undefined ? {} : { leaf }),
      ...(before === undefined ? {} : { before }),
      include: "context",
      limit: wanted,
      payloads: true,
    });
    const entries = page.entries.map((record) => toEntry(record, page.payloads));
    yield { entries: entries.toReversed(), marks: page.marks };
    before = entries[0]?.id;
    if (entries.length < wanted || before === undefined) return;
  }
}

/** The newest compaction on the path, found without reading the path. */
export async function findCompaction(
  engine: EngineContext,
  sessionId: string,
  leaf: string | undefined,
): Promise<CompactionView | null> {
  const { store, tenant } = engine;
  const marked = await store.readEntries(tenant, {
    select: "marked",
    sessionId,
    mark: "summary",
    leaf: leaf ?? null,
    limit: MAX_PAGE,
    payloads: false,
  });
  const newest = marked.entries.findLast(
    ({ kind, content }) => kind === "compaction" && content !== null,
  );
  if (newest === undefined) return null;
  const page = await store.findEntries(tenant, [newest.id], true);
  const record = page.entries[0];
  return record === undefined ? null : viewCompaction(toEntry(record, page.payloads));
}

/** The start of the context: the first entry that no compaction covers. */
interface Boundary {
  readonly sequence: number;
  /** Index of the first message on its path. */
  readonly index: number;
}

/**
 * The first kept entry, or the one after the last covered: it was appended during summarisation.
 */
async function findBoundary(engine: EngineContext, view: CompactionView): Promise<Boundary> {
  const { firstKeptEntryId, through, entry } = view;
  const ids = [firstKeptEntryId, through].filter((id) => id !== null);
  const page = await engine.store.findEntries(engine.tenant, ids, false);
  const known = page.entries
    .map((record) => toEntry(record, page.payloads))
    .filter(
      ({ sessionId, sequence }) => sessionId === entry.sessionId && sequence < entry.sequence,
    );
  const first = known.find(({ id }) => id === firstKeptEntryId);
  if (first !== undefined) return { sequence: first.sequence, index: first.index ?? 0 };
  const last = known.find(({ id }) => id === through);
  if (last !== undefined) return { sequence: last.sequence + 1, index: (last.index ?? -1) + 1 };
  // Both are unknown: only entries after the compaction remain.
  return { sequence: entry.sequence, index: 0 };
}

/**
 * The newest compaction of another branch that covers erased entries of this path: an edit of a
 * kept entry left it behind, and it is their only record.
 */
async function findForgotten(
  engine: EngineContext,
  sessionId: string,
  leaf: string | undefined,
): Promise<CompactionView | null> {
  const { store, tenant } = engine;
  const marked = await store.readEntries(tenant, {
    select: "marked",
    sessionId,
    mark: "summary",
    limit: MAX_PAGE,
    payloads: true,
  });
  const compactions = marked.entries
    .filter(({ kind }) => kind === "compaction")
    .map((record) => viewCompaction(toEntry(record, marked.payloads)));
  for (const view of compactions.reverse()) {
    if (view.through === null) continue;
    const page = await store.findEntries(tenant, [view.through], false);
    const record = page.entries[0];
    if (record?.content !== null) continue;
    if (await isOnPath(engine, sessionId, view.through, leaf))
      return { ...view, isLeftBehind: true };
  }
  return null;
}

async function isOnPath(
  engine: EngineContext,
  sessionId: string,
  entryId: string,
  leaf: string | undefined,
): Promise<boolean> {
  try {
    await engine.store.readEntries(engine.tenant, {
      select: "history",
      sessionId,
      before: entryId,
      include: "messages",
      limit: 1,
      payloads: false,
      ...(leaf === undefined ? {} : { leaf }),
    });
    return true;
  } catch (error) {
    if (BackscrollError.is(error, "entry_not_found")) return false;
    throw error;
  }
}
