/**
 * Machine-made sessions, such as a client's warm-up. The session's metadata marks them, and search
 * leaves them out by default.
 */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import { documentsOf } from "../../index/lists/term-list.ts";
import { MACHINE_MADE } from "../../index/special-terms.ts";
import type { View } from "../../snapshot.ts";

/** Their numbers. Undefined if a blob is missing; all were requested. */
export function findMachineMade(views: readonly View[]): ReadonlySet<number> | undefined {
  const sessions = new Set<number>();
  let isComplete = true;
  for (const { source, live } of views) {
    const found = source.findTerm("about", MACHINE_MADE);
    if (found === null) continue;
    const keys = source.sessionKeys();
    if (found === undefined || keys === undefined) {
      isComplete = false;
      continue;
    }
    for (let base = 0; base < keys.length; base += CHUNK_DOCUMENTS) {
      const list = found.list(base / CHUNK_DOCUMENTS);
      if (list === undefined) isComplete = false;
      if (list === null || list === undefined) continue;
      for (const document of documentsOf(list).subarray(0, list.count)) {
        if (live.sessions[base + document] === 1) sessions.add(keys[base + document] as number);
      }
    }
  }
  return isComplete ? sessions : undefined;
}
