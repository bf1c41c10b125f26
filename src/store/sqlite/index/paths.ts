/** Batched read of the active paths of many sessions. */

import type { SessionPath } from "../../../search/port.ts";
import { IS_WHOLE, toSessionPaths } from "../../index/session-paths.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("paths", {
  leaves: `SELECT t.session, ${IS_WHOLE} AS whole, t.leaf_chain AS chain, t.leaf_depth AS depth
    FROM json_each(?) wanted
    CROSS JOIN session_state t ON t.tenant = ? AND t.session = wanted.value`,
  active: `WITH RECURSIVE up (session, whole, chain, depth) AS (
      SELECT t.session, ${IS_WHOLE}, t.leaf_chain, t.leaf_depth FROM json_each(?2) wanted
        CROSS JOIN session_state t ON t.tenant = ?1 AND t.session = wanted.value
      UNION ALL
      SELECT up.session, up.whole, c.parent_chain, c.fork_depth FROM up
        CROSS JOIN chains c ON c.tenant = ?1 AND c.session = up.session AND c.chain = up.chain
        WHERE c.parent_chain > 0)
    SELECT session, whole, chain, depth FROM up`,
});

export function readPaths(
  db: SqliteConnection,
  tenant: number,
  sessions: readonly number[],
): SessionPath[] {
  const leaves = db.all(SQL.leaves, JSON.stringify(sessions), tenant);
  // Most sessions never branched: reading the leaf alone takes a fifth of the time.
  const branched = leaves.filter(({ chain }) => Number(chain) > 1).map(({ session }) => session);
  if (branched.length === 0) return toSessionPaths(leaves);
  const plain = leaves.filter(({ chain }) => Number(chain) <= 1);
  const paths = db.all(SQL.active, tenant, JSON.stringify(branched));
  return toSessionPaths([...plain, ...paths]);
}
