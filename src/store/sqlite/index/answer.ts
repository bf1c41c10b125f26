/** Answers the index's reads. */

import type { Answers, Need } from "../../../search/port.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { readFeedSlice } from "./feed-slice.ts";
import { readManifest } from "./manifest.ts";
import { readPaths } from "./paths.ts";
import { countSessions, readScope } from "./scope.ts";
import type { SegmentFile } from "./segment-file.ts";
import { readWindows } from "./windows.ts";

export type ReadNeed = Exclude<Need, { need: "write" | "swap" | "breath" }>;

export function answerRead(
  db: SqliteConnection,
  file: SegmentFile,
  tenant: number,
  need: ReadNeed,
): Answers[ReadNeed["need"]] {
  switch (need.need) {
    case "manifest":
      return readManifest(db, tenant);
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
