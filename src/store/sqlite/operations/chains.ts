/** The chains of a path, by a recursive query. */

import type { Chain } from "../../../transcript/place.ts";
import { toChain } from "../../rows/state-row.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("chains", {
  /** The chains from one to the root. UNION also ends a cycle caused by damage. */
  chainsToRoot: `WITH RECURSIVE up (chain, parent_chain, fork_depth, fork_ordinal) AS (
      SELECT chain, parent_chain, fork_depth, fork_ordinal FROM chains
        WHERE tenant = ?1 AND session = ?2 AND chain = ?3
      UNION
      SELECT c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM chains c
        JOIN up ON c.chain = up.parent_chain WHERE c.tenant = ?1 AND c.session = ?2)
    SELECT chain, parent_chain, fork_depth, fork_ordinal FROM up`,
  all: `SELECT chain, parent_chain, fork_depth, fork_ordinal FROM chains
    WHERE tenant = ? AND session = ? ORDER BY chain`,
});

/**
 * The chains from `chain` to the root, by their numbers. The first chain starts at the root and
 * needs no row.
 */
export function readChains(
  db: SqliteConnection,
  tenant: number,
  session: number,
  chain: number,
): Map<number, Chain> {
  const rows = chain <= 1 ? [] : db.all(SQL.chainsToRoot, tenant, session, chain);
  return new Map(rows.map(toChain).map((each) => [each.chain, each]));
}

export function readAllChains(db: SqliteConnection, tenant: number, session: number): Chain[] {
  return db.all(SQL.all, tenant, session).map(toChain);
}
