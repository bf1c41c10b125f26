/**
 * The computations of the index that a store runs, and where they come from.
 *
 * A generator cannot cross a thread, so a storage thread loads the code by itself. A test may name
 * another module: the whole machinery of a store then runs with an index of its own.
 */

import { randomInt } from "node:crypto";
import type { IndexingOptions } from "../../search/index/add-feed.ts";
import { maintainIndex } from "../../search/maintain/maintain.ts";
import { SearchMemory } from "../../search/memory.ts";
import type { Asking, MaintenanceReport, MaintenanceTask } from "../../search/port.ts";
import type { SearchAnswer, SearchRequest } from "../../search/request.ts";
import { searchSessions } from "../../search/search.ts";

export interface IndexCode<Memory = unknown> {
  /** What searches may keep between them, as long as the store is open. */
  createMemory(): Memory;
  search(request: SearchRequest, memory: Memory, tenant: string): Asking<SearchAnswer>;
  maintain(task: MaintenanceTask, options: UpkeepOptions): Asking<MaintenanceReport>;
}

export interface UpkeepOptions {
  /** Changes in no segment from which on upkeep makes one of them. */
  readonly flushAt: number;
  /** Segments that are named and cannot be read. */
  readonly unreadable: ReadonlySet<number>;
}

/** `module` is the URL of a module that exports an `indexCode`. */
export async function loadIndexCode(module: string | undefined): Promise<IndexCode> {
  if (module === undefined) return INDEX_CODE as IndexCode;
  const { indexCode } = (await import(module)) as { readonly indexCode: IndexCode };
  return indexCode;
}

const INDEXING: IndexingOptions = {
  language: "english",
  tools: "names",
  unicode: process.versions["unicode"] ?? "",
};

const INDEX_CODE: IndexCode<SearchMemory> = {
  createMemory: () => new SearchMemory({ indexing: INDEXING, clock: () => performance.now() }),
  search: (request, memory, tenant) => searchSessions(request, memory.tenant(tenant)),
  maintain: (task, options) => maintainIndex(task, { ...options, indexing: INDEXING, newSegment }),
};

/** Random, so that no two processes choose the same. */
function newSegment(): number {
  return randomInt(1, 2 ** 48 - 1);
}
