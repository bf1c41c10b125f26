/** The active paths of many sessions at once. */

import type { SessionPath } from "../../../search/port.ts";
import { IS_WHOLE, toSessionPaths } from "../../index/session-paths.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("paths", {
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
  return toSessionPaths(db.all(SQL.active, tenant, JSON.stringify(sessions)));
}
