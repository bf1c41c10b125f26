/** From rows of (session, chain, depth) to the active paths of sessions. */

import type { SessionPath } from "../../search/port.ts";
import type { Row } from "../records.ts";

/**
 * A session that is alive has at least one row, of which `chain` is null while it is empty. Those
 * that are gone have none, and no path. Chain 0 is left out: no message is ever in it.
 */
export function toSessionPaths(rows: readonly Row[]): SessionPath[] {
  const paths = new Map<number, { chain: number; maxDepth: number }[]>();
  for (const row of rows) {
    const session = Number(row["session"]);
    let ranges = paths.get(session);
    if (ranges === undefined) {
      ranges = [];
      paths.set(session, ranges);
    }
    if (row["chain"] === null) continue;
    ranges.push({ chain: Number(row["chain"]), maxDepth: Number(row["depth"]) });
  }
  return [...paths].map(([session, ranges]) => ({ session, ranges }));
}
