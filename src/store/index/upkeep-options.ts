import { type Manifest, namedSegments } from "../../search/port.ts";
import { FLUSH_AT } from "../indexer.ts";
import type { UpkeepOptions } from "./index-code.ts";
import type { IndexingOptions } from "./indexing-options.ts";

/**
 * What a piece of upkeep is told: when to flush, and which segments to build again. Those are what a
 * search has `reported`, and what is `named` by the manifest and not `stored`.
 */
export function upkeepOptions(
  indexing: IndexingOptions,
  reported: readonly number[],
  { named, stored }: { readonly named: Manifest; readonly stored: readonly number[] },
): UpkeepOptions {
  const there = new Set(stored);
  const missing = namedSegments(named).filter((segment) => !there.has(segment));
  // 0 says that nobody flushes by itself; somebody has asked now.
  const flushAt = indexing.flushAt || FLUSH_AT;
  return { indexing, flushAt, unreadable: new Set([...reported, ...missing]) };
}
