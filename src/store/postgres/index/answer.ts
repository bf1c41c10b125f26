/** Answers the index's reads. */

import type { Answers, Need } from "../../../search/port.ts";
import type { Transaction } from "../transaction.ts";
import { readFeedSlice } from "./feed-slice.ts";
import { readManifest } from "./manifest.ts";
import { readPaths } from "./paths.ts";
import { countSessions, readScope } from "./scope.ts";
import { readBlobs } from "./segments.ts";
import { readWindows } from "./windows.ts";

export type ReadNeed = Exclude<Need, { need: "write" | "swap" | "breath" }>;

export async function answerRead(
  tx: Transaction,
  need: ReadNeed,
): Promise<Answers[ReadNeed["need"]]> {
  switch (need.need) {
    case "manifest":
      return readManifest(tx);
    case "feed":
      return readFeedSlice(tx, need.after, need.limit, need.whole);
    case "blobs":
      return readBlobs(tx, need.keys);
    case "paths":
      return readPaths(tx, need.sessions);
    case "scope":
      return readScope(tx, need.scope);
    case "sessionCount":
      return countSessions(tx);
    case "windows":
      return readWindows(tx, need.windows);
  }
}
