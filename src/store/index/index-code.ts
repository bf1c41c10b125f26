/**
 * The index computations that a store runs, and where they are loaded from.
 *
 * A generator cannot cross a thread, so a storage thread loads the code itself. The suite of the store
 * kit names another module, to run a store with its own index.
 */

import { randomInt } from "node:crypto";
import { totalmem } from "node:os";
import { DEFAULT_TOOL_INDEXING } from "../../search/document/indexable-text.ts";
import type { IndexingOptions as Analysis } from "../../search/index/add-feed.ts";
import { DEFAULT_CACHE_BYTES } from "../../search/index/index-cache.ts";
import { maintainIndex } from "../../search/maintain/maintain.ts";
import type { MaintenanceReport, MaintenanceTask, SansIo } from "../../search/port.ts";
import { readPieces } from "../../search/read-pieces.ts";
import type { IndexAnswer, IndexRequest } from "../../search/request.ts";
import { searchSessions } from "../../search/search.ts";
import { SearchCache } from "../../search/search-cache.ts";
import { searchNotes } from "../../search/search-notes.ts";
import { findLines } from "../../search/text/find-lines.ts";
import { findSessions } from "../../search/text/find-sessions.ts";
import type { IndexingOptions } from "./indexing-options.ts";
import type { StoredSetting } from "./stored-indexing.ts";

export interface IndexCode<Cache = unknown> {
  /** Cached between searches while the store is open. `sharing` caches share the memory of one. */
  createCache(options: IndexingOptions, sharing?: number): Cache;
  search(request: IndexRequest, cache: Cache, tenant: string): SansIo<IndexAnswer>;
  maintain(task: MaintenanceTask, options: MaintenanceOptions): SansIo<MaintenanceReport>;
}

export interface MaintenanceOptions {
  readonly indexing: IndexingOptions;
  /** The number of unindexed changes at which maintenance flushes. */
  readonly flushAt: number;
  /** Segments in the manifest that cannot be read. */
  readonly unreadable: ReadonlySet<number>;
}

/** `module` is the URL of a module that exports an `indexCode`. */
export async function loadIndexCode(module: string | undefined): Promise<IndexCode> {
  if (module === undefined) return INDEX_CODE as IndexCode;
  const { indexCode } = (await import(module)) as { readonly indexCode: IndexCode };
  return indexCode;
}

const INDEX_CODE: IndexCode<SearchCache> = {
  createCache: (options, sharing = 1) =>
    new SearchCache({
      indexing: analysisOf(options),
      clock: () => performance.now(),
      sharing,
      ...(options.cacheBytes === undefined ? {} : { cacheBytes: options.cacheBytes }),
    }),
  search: (request, cache, tenant) => {
    if ("enough" in request) return readPieces(request);
    if ("places" in request) return findLines(request, cache.tenant(tenant));
    if ("run" in request) return findSessions(request, cache.tenant(tenant));
    return "field" in request
      ? searchNotes(request, cache.tenant(tenant))
      : searchSessions(request, cache.tenant(tenant));
  },
  maintain: (task, options) =>
    maintainIndex(task, {
      ...options,
      indexing: analysisOf(options.indexing),
      newSegment,
      now: Date.now(),
    }),
};

function analysisOf({
  language = "english",
  tools = DEFAULT_TOOL_INDEXING,
  lineKey = "",
}: IndexingOptions & Partial<StoredSetting>): Analysis {
  return { language, tools, lineKey };
}

/** Random: processes choose numbers without coordination. */
function newSegment(): number {
  return randomInt(1, 2 ** 48 - 1);
}

/**
 * The default size of a node's index cache: a sixteenth of the memory that the process may use. A
 * question that misses the cache waits for the database, and the index of a tenant of ten million
 * messages has a gigabyte.
 */
export function shareOfMemory(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(DEFAULT_CACHE_BYTES, Math.floor(memory / 16));
}
