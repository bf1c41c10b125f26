/**
 * The entries that the model sees, read from the leaf backwards.
 *
 * They begin at the first entry that the newest compaction of the path kept. Reading stops there, or
 * as soon as the caller has enough, so that the cost does not depend on how long the session is.
 */

import { cutResults } from "../../context/cut-results.ts";
import type { TokenCounter } from "../../context/tokens.ts";
import type { Entry } from "../../model/entry.ts";
import { toEntry } from "../entry-view.ts";
import type { Scope } from "../scope.ts";
import { type CompactionView, viewCompaction } from "./compaction-entry.ts";

export interface ContextEntries {
  /** The newest compaction on the path. */
  readonly compaction: CompactionView | null;
  /** What enters the context, in order, compactions left out; long results cut as it says. */
  readonly entries: readonly Entry[];
  /** Messages between the first kept entry and `entries[0]` that were not read. */
  readonly unread: number;
}

export interface ReadContextOptions {
  readonly leaf?: string;
  readonly counter: TokenCounter;
  /** Called with each entry, newest first; true once nothing older is needed. */
  readonly isEnough?: (entry: Entry) => boolean;
}

/** The first page is small: most callers need little, and a message may be large. */
const FIRST_PAGE = 32;
const NEXT_PAGE = 128;

export async function readContext(
  scope: Scope,
  sessionId: string,
  options: ReadContextOptions,
): Promise<ContextEntries> {
  const newestFirst: Entry[] = [];
  let compaction: CompactionView | null = null;
  let firstKept: Entry | undefined;
  let unread = 0;
  let limit = FIRST_PAGE;
  for await (const page of pagesBackwards(scope, sessionId, options.leaf, () => limit)) {
    limit = NEXT_PAGE;
    let done = false;
    for (const entry of page) {
      if (firstKept !== undefined && entry.sequence < firstKept.sequence) {
        done = true;
        break;
      }
      if (entry.kind === "compaction") {
        // An older one is part of what this one summarised.
        if (compaction !== null) continue;
        compaction = viewCompaction(entry);
        const { firstKeptEntryId } = compaction;
        firstKept = firstKeptEntryId === null ? undefined : await find(scope, firstKeptEntryId);
        // Nothing was kept, or what was kept is not known here: only what came after it is left.
        if (firstKept === undefined || firstKept.sequence > entry.sequence) {
          done = true;
          break;
        }
        continue;
      }
      newestFirst.push(entry);
      if (options.isEnough?.(entry)) {
        unread = (entry.index ?? 0) - (firstKept?.index ?? 0);
        done = true;
        break;
      }
    }
    if (done) break;
  }
  const cuts = compaction?.cuts;
  const entries = newestFirst.reverse().map((entry) => {
    const ofEntry = cuts?.get(entry.id);
    if (ofEntry === undefined) return entry;
    return { ...entry, blocks: cutResults(entry.blocks, ofEntry, options.counter) };
  });
  return { compaction, entries, unread: Math.max(0, unread) };
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

async function find(scope: Scope, id: string): Promise<Entry | undefined> {
  const page = await scope.store.findEntries(scope.tenant, [id], false);
  const record = page.entries[0];
  return record === undefined ? undefined : toEntry(record, page.payloads);
}
