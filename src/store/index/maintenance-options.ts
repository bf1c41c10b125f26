import { type Manifest, namedSegments } from "../../search/port.ts";
import { FLUSH_AT } from "../indexer.ts";
import type { MaintenanceOptions } from "./index-code.ts";
import type { IndexingOptions } from "./indexing-options.ts";

/**
 * Options of a maintenance step: the flush threshold and the segments to rebuild, which are those
 * that a search `reported` and those `named` by the manifest but not `stored`.
 */
export function maintenanceOptions(
  indexing: IndexingOptions,
  reported: readonly number[],
  { named, stored }: { readonly named: Manifest; readonly stored: readonly number[] },
): MaintenanceOptions {
  const there = new Set(stored);
  const missing = namedSegments(named).filter((segment) => !there.has(segment));
  // 0 disables automatic flushes only.
  const flushAt = indexing.flushAt || FLUSH_AT;
  return { indexing, flushAt, unreadable: new Set([...reported, ...missing]) };
}
