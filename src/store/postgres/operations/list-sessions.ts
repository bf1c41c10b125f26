/**
 * Keyset pagination of sessions, newest interaction first.
 *
 * One statement for every combination of filters, planned for each call with its values: conditions
 * that are off vanish, and the planner chooses between walking the interaction index and starting
 * from the index of a selective filter.
 */

import type { MetadataFilter, Session } from "../../../model/session.ts";
import { filterRow, filtersOf, type SessionFilterName } from "../../../model/session-filters.ts";
import type { SessionFilter, SessionPage, SessionPosition } from "../../records.ts";
import { SESSION_COLUMNS } from "../../rows/session-row.ts";
import { filterValues } from "../../rows/session-values.ts";
import type { SqlValue } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { toSessions } from "./sessions.ts";

/**
 * The metadata as JSON. PostgreSQL refuses the escapes of NUL and of half a surrogate pair: they are
 * left out, but not the same letters after an escaped backslash.
 */
const METADATA = `(CASE WHEN position('\\\\u0000'::bytea IN s.metadata) > 0
        OR position('\\\\ud'::bytea IN s.metadata) > 0
      THEN regexp_replace(convert_from(s.metadata, 'UTF8'),
        '(\\\\\\\\)|\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1', 'g')
      ELSE convert_from(s.metadata, 'UTF8') END)::json`;

/** The key of the session that started this one: see `isSubAgent`. */
const PARENT_KEY = `(CASE WHEN position('"parent":{'::bytea IN s.metadata) > 0
      THEN ${METADATA} -> 'parent' ->> 'key' END)`;

/** The condition of a filter on `s`, for a value. */
export function sessionTest(name: SessionFilterName, value: string): string {
  const { table, column } = filterRow(name);
  switch (name) {
    case "project":
      return `s.project_id = ${value} OR s.project_path = ${value}
        OR right(s.project_path, length(${value}) + 1) IN ('/' || ${value}, '\\' || ${value})`;
    case "repo":
      return `s.repo = ${value} OR right(s.repo, length(${value}) + 1) = '/' || ${value}`;
    case "title":
      return `strpos(s.title_folded, ${value}) > 0`;
    case "parentSessionId":
      return `s.parent_session_id = ${value} OR ${PARENT_KEY} =
        (SELECT p.origin_key FROM sessions p WHERE p.tenant = s.tenant AND p.id = ${value})`;
    case "subAgent":
      return `coalesce(s.source LIKE 'opencode%' AND ${PARENT_KEY} IS NOT NULL
        OR starts_with(s.origin_key, ${PARENT_KEY} || '/'), false)::int = ${value}`;
    case "keyPrefix":
      return `(s.origin_key >= ${value} AND s.origin_key <= ${value} || repeat(chr(1114111), 2)
        AND starts_with(s.origin_key, ${value}))`;
  }
  return table === undefined
    ? `s.${column} = ${value}`
    : `EXISTS (SELECT 1 FROM ${table} m
        WHERE m.tenant = $1 AND m.session = s.session AND m.${column} = ${value})`;
}

const SQL = statements("list_sessions", {
  /** Each condition is off while its parameter is null. */
  list: `SELECT ${SESSION_COLUMNS} FROM session_state t
    JOIN sessions s ON s.tenant = t.tenant AND s.session = t.session
    WHERE t.tenant = $1
      ${filtersOf("list")
        .map(([name, { kind }], i) => {
          const type = kind === undefined ? "text" : "bigint";
          return `AND ($${i + 10}::${type} IS NULL OR ${sessionTest(name, `$${i + 10}`)})`;
        })
        .join("\n      ")}
      AND CASE WHEN $3::int IS NOT NULL AND position('"machineMade":true'::bytea IN s.metadata) > 0
        THEN (${METADATA} -> 'machineMade')::text IS DISTINCT FROM 'true'
        ELSE true END
      AND CASE WHEN $4::text IS NULL THEN true
        WHEN EXISTS (SELECT 1 FROM unnest($5::bytea[]) pair
          WHERE position(pair IN s.metadata) = 0) THEN false
        WHEN position('\\\\u0000'::bytea IN s.metadata) > 0 THEN true
        ELSE NOT EXISTS (SELECT 1 FROM json_each($4::json) wanted
          WHERE (${METADATA} -> wanted.key)::text
            IS DISTINCT FROM wanted.value::text) END
      AND ($6::bigint IS NULL OR t.last_interaction_at >= $6)
      AND ($7::bigint IS NULL OR t.last_interaction_at < $7)
      AND (t.last_interaction_at, t.session) < ($8::bigint, $9::bigint)
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
    filter.machineMade === false ? 1 : null,
    filter.metadata === undefined ? null : JSON.stringify(filter.metadata),
    pairsOf(filter.metadata ?? {}),
    filter.since ?? null,
    filter.until ?? null,
    page.after?.lastInteractionAt ?? Number.MAX_SAFE_INTEGER,
    page.after?.number ?? 0,
    ...filterValues(filter),
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
