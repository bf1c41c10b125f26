/** Maps rows of (session, whole, chain, depth) to the active paths of sessions. */

import type { SessionPath } from "../../search/port.ts";
import type { Row } from "../records.ts";

/** Whether a session (t) has a single chain, and its leaf is the end of it. */
export const IS_WHOLE = `(t.last_chain = 0 OR (t.last_chain = 1 AND t.leaf_at_tip = 1))`;

/**
 * An existing session has at least one row, with a null `chain` while it is empty. A deleted one
 * has no row, and no path. Chain 0 is left out: it never holds a message.
 */
export function toSessionPaths(rows: readonly Row[]): SessionPath[] {
  const paths = new Map<number, SessionPath & { ranges: { chain: number; maxDepth: number }[] }>();
  for (const row of rows) {
    const session = Number(row["session"]);
    let path = paths.get(session);
    if (path === undefined) {
      path = { session, isWhole: Number(row["whole"]) === 1, ranges: [] };
      paths.set(session, path);
    }
    if (row["chain"] === null) continue;
    path.ranges.push({ chain: Number(row["chain"]), maxDepth: Number(row["depth"]) });
  }
  return [...paths.values()];
}
