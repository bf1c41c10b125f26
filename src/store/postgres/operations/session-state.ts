/**
 * A session under its lock, and points of its tree.
 *
 * Pipelining: statements name a session by its id, so that they are sent together with the one that
 * reads its number. Under READ COMMITTED each statement sees the commits before it, so reads after
 * the lock see the locked state.
 */

import type { Chain, Point } from "../../../transcript/place.ts";
import type { Row } from "../../records.ts";
import {
  type NumberedSession,
  STATE_CHECKS,
  STATE_COLUMNS,
  toChain,
  toNumberedSession,
  toPoint,
} from "../../rows/state-row.ts";
import { sessionNotFound } from "../../store-errors.ts";
import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { UNINDEXED_SESSION } from "./entry-columns.ts";

const SQL = statements("session_state", {
  lock: `SELECT ${STATE_COLUMNS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = $2 FOR UPDATE OF t`,
  read: `SELECT ${STATE_COLUMNS}, ${STATE_CHECKS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = $2`,
  check: `SELECT ${STATE_CHECKS} FROM sessions s
    JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = $1 AND s.id = $2`,
  findPoints: `SELECT e.id, e.sequence, e.chain, e.depth, e.ordinal, e.hash, e.kind, e.status,
      (NOT EXISTS (SELECT 1 FROM entries d WHERE d.tenant = e.tenant AND d.session = e.session
        AND d.chain = e.chain AND d.ordinal >= e.ordinal AND d.depth + 0 > e.depth))::int AS at_tip
    FROM sessions s JOIN entries e ON e.tenant = s.tenant AND ${UNINDEXED_SESSION} = s.session
    WHERE s.tenant = $1 AND s.id = $2 AND e.id = ANY ($3)`,
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

/** Queries a session's state and locks it until the end of the transaction. */
export function lockQuery(tx: Transaction, sessionId: string): Query {
  return query(SQL.lock, tx.tenant, sessionId);
}

export function stateQuery(tx: Transaction, sessionId: string): Query {
  return query(SQL.read, tx.tenant, sessionId);
}

/**
 * Queries whether a session's state is consistent. For a locked one, send it after `lockQuery`.
 */
export function checkQuery(tx: Transaction, sessionId: string): Query {
  return query(SQL.check, tx.tenant, sessionId);
}

/** Queries entries of a session as points of its tree; undefined without ids. */
export function pointsQuery(
  tx: Transaction,
  sessionId: string,
  ids: readonly string[],
): Query | undefined {
  return ids.length === 0 ? undefined : query(SQL.findPoints, tx.tenant, sessionId, ids);
}

/** The answer to `lockQuery` or `stateQuery`; throws `session_not_found` if empty. */
export function toState(
  rows: readonly Row[] | undefined,
  sessionId: string,
  isRaw = false,
): NumberedSession {
  const row = rows?.[0];
  if (row === undefined) throw sessionNotFound(sessionId);
  return toNumberedSession(row, sessionId, isRaw);
}

/**
 * The answers to `lockQuery` and `checkQuery`; throws `store_corrupt` for an inconsistent
 * state.
 */
export function toSoundState(
  locked: readonly Row[] | undefined,
  checked: readonly Row[] | undefined,
  sessionId: string,
): NumberedSession {
  return toState(
    locked?.map((row) => ({ ...row, ...checked?.[0] })),
    sessionId,
  );
}

/** The answer to `pointsQuery`, by id. */
export function toPoints(rows: readonly Row[] | undefined): Map<string, Point> {
  return new Map((rows ?? []).map(toPoint).map((point) => [point.id, point]));
}

/** Locks a session and gives its number. */
export async function lockSession(tx: Transaction, sessionId: string): Promise<NumberedSession> {
  const [rows] = await tx.together([lockQuery(tx, sessionId)]);
  return toState(rows, sessionId);
}

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
