/** The chains of a path, by a recursive query. */

import type { Chain } from "../../../transcript/place.ts";
import type { Row } from "../../records.ts";
import { toChain } from "../../rows/state-row.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { UNINDEXED_SESSION } from "./entry-columns.ts";

const SQL = statements("chains", {
  /**
   * The chains from an entry's, or the leaf's, to the root. UNION also ends a cycle. LIMIT 1 keeps the
   * planner from reading all chains of the tenant for a join: the key has one.
   */
  chainsToRoot: `WITH RECURSIVE up (session, chain, parent_chain, fork_depth, fork_ordinal) AS (
      SELECT c.session, c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM sessions s
        JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
        CROSS JOIN LATERAL (SELECT o.* FROM chains o WHERE o.tenant = $1 AND o.session = s.session
          AND o.chain = coalesce((SELECT e.chain FROM entries e WHERE e.tenant = $1
            AND ${UNINDEXED_SESSION} = s.session AND e.id = $3), t.leaf_chain) LIMIT 1) c
        WHERE s.tenant = $1 AND s.id = $2
      UNION
      SELECT c.session, c.chain, c.parent_chain, c.fork_depth, c.fork_ordinal FROM up
        CROSS JOIN LATERAL (SELECT o.* FROM chains o WHERE o.tenant = $1
          AND o.session = up.session AND o.chain = up.parent_chain LIMIT 1) c)
    SELECT chain, parent_chain, fork_depth, fork_ordinal FROM up`,
  all: `SELECT chain, parent_chain, fork_depth, fork_ordinal FROM chains
    WHERE tenant = $1 AND session = $2 ORDER BY chain`,
});

/** Queries the chains from that of `entry`, or of the active leaf, to the root. */
export function chainsQuery(tx: Transaction, sessionId: string, entry: string | undefined): Query {
  return query(SQL.chainsToRoot, tx.tenant, sessionId, entry ?? null);
}

export function allChainsQuery(tx: Transaction, session: number): Query {
  return query(SQL.all, tx.tenant, session);
}

/** The answer to either query, by number. */
export function toChains(rows: readonly Row[] | undefined): Map<number, Chain> {
  return new Map((rows ?? []).map(toChain).map((chain) => [chain.chain, chain]));
}
