/**
 * Keyset pagination of sessions, newest interaction first.
 *
 * One statement for every combination of filters, planned for each call with its values: conditions
 * that are off vanish, and the planner chooses between walking the interaction index and starting
 * from the index of a selective filter.
 */

import type { MetadataFilter, Session } from "../../../model/session.ts";
import type { SessionFilter, SessionPage, SessionPosition } from "../../records.ts";
import { SESSION_COLUMNS } from "../../rows/session-row.ts";
import { foldTitle } from "../../title.ts";
import type { SqlValue } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { toSessions } from "./sessions.ts";

const SQL = statements("list_sessions", {
  /** Each condition is off while its parameter is null. */
  list: `SELECT ${SESSION_COLUMNS} FROM session_state t
    JOIN sessions s ON s.tenant = t.tenant AND s.session = t.session
    WHERE t.tenant = $1
      AND ($3::text IS NULL OR s.agent = $3)
      AND ($4::text IS NULL OR s.owner = $4)
      AND ($5::text IS NULL OR s.project_id = $5)
      AND ($6::text IS NULL OR s.workstation = $6)
      AND ($7::text IS NULL OR s.source = $7)
      AND ($8::text IS NULL OR s.parent_session_id = $8)
      AND ($9::text IS NULL OR EXISTS (SELECT 1 FROM participants p
        WHERE p.tenant = $1 AND p.session = s.session AND p.actor = $9))
      AND ($10::text IS NULL OR strpos(s.title_folded, $10) > 0)
      AND ($15::text IS NULL OR s.repo = $15 OR right(s.repo, length($15) + 1) = '/' || $15)
      AND ($16::text IS NULL OR s.project_id = $16 OR s.project_path = $16
        OR right(s.project_path, length($16) + 1) IN ('/' || $16, '\\' || $16))
      AND CASE WHEN $17::int IS NOT NULL AND position('"machineMade":true'::bytea IN s.metadata) > 0
        THEN (convert_from(s.metadata, 'UTF8')::json -> 'machineMade')::text IS DISTINCT FROM 'true'
        ELSE true END
      AND ($18::text IS NULL OR (s.origin_key >= $18
        AND s.origin_key <= $18 || repeat(chr(1114111), 2) AND starts_with(s.origin_key, $18)))
      AND CASE WHEN $19::text IS NULL THEN true
        WHEN EXISTS (SELECT 1 FROM unnest($20::bytea[]) pair
          WHERE position(pair IN s.metadata) = 0) THEN false
        WHEN position('\\\\u0000'::bytea IN s.metadata) > 0 THEN true
        ELSE NOT EXISTS (SELECT 1 FROM json_each($19::json) wanted
          WHERE (convert_from(s.metadata, 'UTF8')::json -> wanted.key)::text
            IS DISTINCT FROM wanted.value::text) END
      AND ($21::text IS NULL OR EXISTS (SELECT 1 FROM session_models m
        WHERE m.tenant = $1 AND m.session = s.session AND m.model = $21))
      AND ($11::bigint IS NULL OR t.last_interaction_at >= $11)
      AND ($12::bigint IS NULL OR t.last_interaction_at < $12)
      AND (t.last_interaction_at, t.session) < ($13::bigint, $14::bigint)
    ORDER BY t.last_interaction_at DESC, t.session DESC LIMIT $2`,
});

export async function listSessions(
  tx: Transaction,
  filter: SessionFilter,
  page: SessionPage,
): Promise<{ sessions: readonly Session[]; next?: SessionPosition }> {
  const values: SqlValue[] = [
    tx.tenant,
    page.limit + 1,
    filter.agent ?? null,
    filter.owner ?? null,
    filter.projectId ?? null,
    filter.workstation ?? null,
    filter.source ?? null,
    filter.parentSessionId ?? null,
    filter.participant ?? null,
    filter.title === undefined ? null : foldTitle(filter.title),
    filter.since ?? null,
    filter.until ?? null,
    page.after?.lastInteractionAt ?? Number.MAX_SAFE_INTEGER,
    page.after?.number ?? 0,
    filter.repo ?? null,
    filter.project ?? null,
    filter.machineMade === false ? 1 : null,
    filter.keyPrefix ?? null,
    filter.metadata === undefined ? null : JSON.stringify(filter.metadata),
    pairsOf(filter.metadata ?? {}),
    filter.model ?? null,
  ];
  const [rows = []] = await tx.together([{ sql: SQL.list, values, planned: "each time" }]);
  const shown = rows.slice(0, page.limit);
  const sessions = await toSessions(tx, shown);
  const last = shown.at(-1);
  if (rows.length <= page.limit || last === undefined) return { sessions };
  const next = {
    lastInteractionAt: Number(last["last_interaction_at"]),
    number: Number(last["session"]),
  };
  return { sessions, next };
}

/**
 * Each field and value as its JSON bytes. Where metadata holds an escaped NUL these bytes decide,
 * because PostgreSQL refuses such JSON; elsewhere they avoid most of the parsing.
 */
function pairsOf(metadata: MetadataFilter): Buffer[] {
  return Object.entries(metadata).map(([name, value]) =>
    Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`),
  );
}
