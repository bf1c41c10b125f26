/** Batched read of the active paths of many sessions. */

import type { SessionPath } from "../../../search/port.ts";
import { IS_WHOLE, toSessionPaths } from "../../index/session-paths.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("paths", {
  active: `WITH RECURSIVE up (session, whole, chain, depth) AS (
      SELECT t.session, ${IS_WHOLE}::int, t.leaf_chain, t.leaf_depth
        FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted (session, rank)
        JOIN session_state t ON t.tenant = $1 AND t.session = wanted.session
      UNION ALL
      SELECT up.session, up.whole, c.parent_chain, c.fork_depth FROM up
        JOIN chains c ON c.tenant = $1 AND c.session = up.session AND c.chain = up.chain
        WHERE c.parent_chain > 0)
    SELECT session, whole, chain, depth FROM up`,
});

export async function readPaths(
  tx: Transaction,
  sessions: readonly number[],
): Promise<SessionPath[]> {
  return toSessionPaths(await tx.all(SQL.active, tx.tenant, sessions));
}
