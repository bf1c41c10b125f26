/** The entries of a session, in the order of writing, page by page. */

import type { SessionApi } from "../../engine/interfaces.ts";
import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { readAhead } from "./read-ahead.ts";

/** The first `count` entries; with the session's `entryCount`, all entries as of then. */
export function treePages(session: SessionApi, count: number): AsyncGenerator<readonly Entry[]> {
  const offsets: number[] = [];
  for (let offset = 0; offset < count; offset += MAX_PAGE) offsets.push(offset);
  return readAhead(offsets, async (offset) => {
    const limit = Math.min(MAX_PAGE, count - offset);
    return (await session.listEntries({ tree: true, offset, limit })).entries;
  });
}
