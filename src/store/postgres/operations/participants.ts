/** A session's participants, in the order of joining. */

import { type Query, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("participants", {
  add: `INSERT INTO participants (tenant, session, actor, position)
    SELECT $1::bigint, $2::bigint, joining.actor, row_number() OVER (ORDER BY joining.rank)
      + (SELECT coalesce(max(p.position), 0) FROM participants p
        WHERE p.tenant = $1 AND p.session = $2)
    FROM unnest($3::text[]) WITH ORDINALITY AS joining (actor, rank)
    WHERE NOT EXISTS (SELECT 1 FROM participants p
      WHERE p.tenant = $1 AND p.session = $2 AND p.actor = joining.actor)`,
  list: `SELECT session, actor FROM participants WHERE tenant = $1 AND session = ANY ($2)
    ORDER BY session, position`,
  listById: `SELECT p.session, p.actor FROM sessions s
    JOIN participants p ON p.tenant = s.tenant AND p.session = s.session
    WHERE s.tenant = $1 AND s.id = $2 ORDER BY p.position`,
  clear: `DELETE FROM participants WHERE tenant = $1 AND session = $2`,
});

/** An existing participant keeps its position. */
export function addParticipants(tx: Transaction, session: number, actors: readonly string[]): void {
  if (actors.length === 0) return;
  tx.defer(SQL.add, tx.tenant, session, [...new Set(actors)]);
}

export function clearParticipants(tx: Transaction, session: number): void {
  tx.defer(SQL.clear, tx.tenant, session);
}

/** Queries the participants of sessions, by number. */
export function participantsQuery(tx: Transaction, sessions: readonly number[]): Query {
  return query(SQL.list, tx.tenant, sessions);
}

/** Queries the participants of one session, by id. */
export function sessionParticipantsQuery(tx: Transaction, sessionId: string): Query {
  return query(SQL.listById, tx.tenant, sessionId);
}
