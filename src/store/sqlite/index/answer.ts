/** Answers the index's reads. */

import { type Answers, EMPTY_MANIFEST, type Manifest, type Need } from "../../../search/port.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { readFeedSlice } from "./feed-slice.ts";
import { readManifest } from "./manifest.ts";
import { readPaths } from "./paths.ts";
import { countSessions, readScope } from "./scope.ts";
import type { SegmentFile } from "./segment-file.ts";
import { listStored } from "./segments.ts";
import { readWindows } from "./windows.ts";

/**
 * The manifest, without its segments if the file has none of them: it was deleted, or is another
 * store's. Then all of the feed is unindexed, and a search reads it instead.
 */
export function usableManifest(db: SqliteConnection, file: SegmentFile, tenant: number): Manifest {
  const manifest = readManifest(db, tenant);
  if (manifest.segments.length === 0) return manifest;
  const stored = new Set(listStored(file.open(), tenant));
  if (manifest.segments.some(({ segment }) => stored.has(segment))) return manifest;
  return { ...EMPTY_MANIFEST, version: manifest.version };
}

export type ReadNeed = Exclude<Need, { need: "write" | "swap" | "breath" }>;

export function answerRead(
  db: SqliteConnection,
  file: SegmentFile,
  tenant: number,
  need: ReadNeed,
): Answers[ReadNeed["need"]] {
  switch (need.need) {
    case "manifest":
      return usableManifest(db, file, tenant);
    case "feed":
      return readFeedSlice(db, tenant, need.after, need.limit, need.whole);
    case "blobs":
      return file.readAll(tenant, need.keys);
    case "paths":
      return readPaths(db, tenant, need.sessions);
    case "scope":
      return readScope(db, tenant, need.scope);
    case "sessionCount":
      return countSessions(db, tenant);
    case "windows":
      return readWindows(db, tenant, need.windows);
  }
}
