/**
 * The entries that the model sees, read from the leaf backwards.
 *
 * They begin at the first entry that the newest compaction of the path kept. Reading stops there, or
 * as soon as the caller has enough, so that the cost does not depend on how long the session is.
 */

import { cutResults } from "../../context/cut-results.ts";
import type { TokenCounter } from "../../context/tokens.ts";
import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { toEntry } from "../entry-view.ts";
import type { Scope } from "../scope.ts";
import { type CompactionView, viewCompaction } from "./compaction-entry.ts";

export interface ContextEntries<Item = Entry> {
  /** The newest compaction on the path. */
  readonly compaction: CompactionView | null;
  /** What enters the context, in order, compactions left out; long results cut as it says. */
  readonly entries: readonly Item[];
  /** Messages between the first kept entry and `entries[0]` that were not read. */
  readonly unread: number;
}

export interface ReadContextOptions {
  readonly leaf?: string | undefined;
  readonly counter: TokenCounter;
  /** Called with each entry, newest first; true once nothing older is needed. */
  readonly isEnough?: (entry: Entry) => boolean;
  /** How much is read at first; 32 if left out. */
  readonly firstPage?: number;
  /** False: the compaction is not looked for if what was read does not reach it. */
  readonly summary?: boolean;
}

/** The first page is small: most callers need little, and a message may be large. */
const FIRST_PAGE = 32;
const NEXT_PAGE = 128;

export function readContext(
  scope: Scope,
  sessionId: string,
  options: ReadContextOptions,
): Promise<ContextEntries> {
  return readContextAs(scope, sessionId, options, (entry) => entry);
}

/** As `readContext`, keeping only what `toItem` makes of each entry: content is not held. */
export async function readContextAs<Item>(
  scope: Scope,
  sessionId: string,
  options: ReadContextOptions,
  toItem: (entry: Entry) => Item,
): Promise<ContextEntries<Item>> {
  const newestFirst: Item[] = [];
  let compaction: CompactionView | null = null;
  let firstKept: Entry | undefined;
  let limit = options.firstPage ?? FIRST_PAGE;
  const done = (unread: number) => {
    return { compaction, entries: newestFirst.reverse(), unread: Math.max(0, unread) };
  };
  for await (const page of pagesBackwards(scope, sessionId, options.leaf, () => limit)) {
    limit = NEXT_PAGE;
    for (const entry of page) {
      // A summary has its place, on this path or on the one that was left.
      if (entry.erased) continue;
      // Sequences grow along a path, so this also ends where the first kept entry is on another one.
      if (firstKept !== undefined && entry.sequence < firstKept.sequence) return done(0);
      if (entry.kind === "compaction") {
        // An older one is part of what the newest has summarised.
        if (compaction !== null) continue;
        compaction = viewCompaction(entry);
        firstKept = await findFirstKept(scope, compaction);
        // Nothing was kept, or it is not known here: only what came after it is left.
        if (firstKept === undefined) return done(0);
        continue;
      }
      newestFirst.push(toItem(asShown(entry, compaction, options.counter)));
      if (!options.isEnough?.(entry)) continue;
      if (compaction === null && options.summary !== false) {
        compaction = await findCompaction(scope, sessionId, options.leaf);
        if (compaction !== null) firstKept = await findFirstKept(scope, compaction);
      }
      return done((entry.index ?? 0) - (firstKept?.index ?? 0));
    }
  }
  return done(0);
}

/** The entry as the context shows it: results that the compaction cut are cut. */
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

/** Pages of what enters the context, the newest first, each with its newest entry first. */
export async function* pagesBackwards(
  scope: Scope,
  sessionId: string,
  leaf: string | undefined,
  limit: () => number,
): AsyncGenerator<Entry[]> {
  let before: string | undefined;
  for (;;) {
    const wanted = limit();
    const page = await scope.store.readEntries(scope.tenant, {
      select: "history",
      sessionId,
      ...(leaf === undefined ? {} : { leaf }),
      ...(before === undefined ? {} : { before }),
      include: "context",
      limit: wanted,
      payloads: true,
    });
    const entries = page.entries.map((record) => toEntry(record, page.payloads));
    yield entries.toReversed();
    before = entries[0]?.id;
    if (entries.length < wanted || before === undefined) return;
  }
}

/** The newest compaction on the path, found without reading the path. */
export async function findCompaction(
  scope: Scope,
  sessionId: string,
  leaf: string | undefined,
): Promise<CompactionView | null> {
  const { store, tenant } = scope;
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

async function findFirstKept(
  scope: Scope,
  { firstKeptEntryId, entry }: CompactionView,
): Promise<Entry | undefined> {
  if (firstKeptEntryId === null) return undefined;
  const page = await scope.store.findEntries(scope.tenant, [firstKeptEntryId], false);
  const record = page.entries[0];
  const known = record?.sessionId === entry.sessionId && record.sequence < entry.sequence;
  return record === undefined || !known ? undefined : toEntry(record, page.payloads);
}
