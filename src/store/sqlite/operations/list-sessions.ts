/**
 * Keyset pagination of sessions, newest interaction first.
 *
 * Cost-based choice of two plans for a filter with m matches among n sessions. A scan of the
 * interaction index stops after a page, but visits n/m sessions for each match; the filter's own
 * index finds all m matches, which are then sorted. The second is used while m is small, so that no
 * page costs more than about the square root of n, without a composite index per filter.
 */

import type { Session } from "../../../model/session.ts";
import {
  eachFilter,
  filterRow,
  filtersOf,
  type SessionFilterName,
} from "../../../model/session-filters.ts";
import type { SessionFilter, SessionPage, SessionPosition } from "../../records.ts";
import { SESSION_COLUMNS } from "../../rows/session-row.ts";
import { filterValues } from "../../rows/session-values.ts";
import type { SqliteConnection, SqlRow, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findTenant } from "./feed.ts";
import { toSessions } from "./sessions.ts";

/** Up to this many matches are sorted instead of scanning the interaction index. */
const FEW = 1_000;

/** Damaged JSON is reported when the session is read. Test the text first, which is cheaper. */
const METADATA = "CAST(s.metadata AS TEXT)";

/** The key of the session that started this one: see `isSubAgent`. */
const PARENT_KEY = `CASE WHEN instr(${METADATA}, '"parent"') > 0 AND json_valid(${METADATA})
      THEN json_extract(${METADATA}, '$.parent.key') END`;

/** The condition of a filter on `s`, for a value. */
export function sessionTest(name: SessionFilterName, value: string): string {
  const { table, column } = filterRow(name);
  switch (name) {
    case "project":
      return `s.project_id = ${value} OR s.project_path = ${value}
    OR substr(s.project_path, -length(${value}) - 1) IN ('/' || ${value}, '\\' || ${value})`;
    case "repo":
      return `s.repo = ${value} OR substr(s.repo, -length(${value}) - 1) = '/' || ${value}`;
    case "title":
      return `instr(s.title_folded, ${value}) > 0`;
    case "parentSessionId":
      return `s.parent_session_id = ${value} OR ${PARENT_KEY} =
        (SELECT p.origin_key FROM sessions p WHERE p.tenant = ?1 AND p.id = ${value})`;
    case "subAgent":
      return `coalesce(${PARENT_KEY} IS NOT NULL AND (substr(s.source, 1, 8) = 'opencode'
        OR substr(s.origin_key, 1, length(${PARENT_KEY}) + 1) = ${PARENT_KEY} || '/'), 0) = ${value}`;
    case "keyPrefix":
      return `substr(s.origin_key, 1, length(${value})) = ${value}`;
  }
  return table === undefined
    ? `s.${column} = ${value}`
    : `EXISTS (SELECT 1 FROM ${table} m
      WHERE m.tenant = ?1 AND m.session = s.session AND m.${column} = ${value})`;
}

const IS_MACHINE_MADE = `CASE WHEN instr(${METADATA}, '"machineMade"') > 0 AND json_valid(${METADATA})
      THEN json_type(${METADATA}, '$.machineMade') IS 'true' ELSE 0 END`;

/** JSON writes each scalar in one way, so equal values have equal types and texts. */
const HAS_METADATA = `CASE WHEN json_valid(${METADATA}) THEN NOT EXISTS (
      SELECT 1 FROM json_each(?4) wanted WHERE NOT EXISTS (
        SELECT 1 FROM json_each(${METADATA}) has
        WHERE has.key = wanted.key AND has.type = wanted.type AND has.atom = wanted.atom))
      ELSE 0 END`;

/** The parameters after those of the filters. */
const AFTER = 5 + filtersOf("list").length;

/** Each filter is off while its parameter is null. */
const FILTERS = `(?3 IS NULL OR NOT ${IS_MACHINE_MADE})
    AND (?4 IS NULL OR ${HAS_METADATA})
    ${filtersOf("list")
      .map(([name], i) => `AND (?${i + 5} IS NULL OR ${sessionTest(name, `?${i + 5}`)})`)
      .join("\n    ")}`;

const SQL = statements("list_sessions", {
  walk: `SELECT ${SESSION_COLUMNS} FROM session_state t INDEXED BY session_state_by_interaction
    CROSS JOIN sessions s ON s.tenant = t.tenant AND s.session = t.session
    WHERE t.tenant = ?1 AND ${FILTERS}
      AND t.last_interaction_at >= ?${AFTER}
      AND (t.last_interaction_at, t.session) < (?${AFTER + 1}, ?${AFTER + 2})
    ORDER BY t.last_interaction_at DESC, t.session DESC LIMIT ?2`,
  /** The order of a few sessions, by key columns only. */
  sortFew: `SELECT t.session FROM json_each(?2) few
    CROSS JOIN session_state t ON t.tenant = ?1 AND t.session = few.value
    WHERE t.tenant = ?1 AND t.last_interaction_at >= ?3
      AND (t.last_interaction_at, t.session) < (?4, ?5)
    ORDER BY t.last_interaction_at DESC, t.session DESC`,
  readOne: `SELECT ${SESSION_COLUMNS} FROM sessions s
    CROSS JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
    WHERE s.tenant = ?1 AND s.session = ?2 AND ${FILTERS}`,
});

/** The filters with an index, the most selective first. */
const INDEXED = [
  "session",
  "keyPrefix",
  "parentSessionId",
  "participant",
  "projectId",
  "project",
  "repo",
  "owner",
  "agent",
  "workstation",
  "source",
  "model",
] as const;

/** The statement that finds the few sessions of each. */
const FEW_OF = statements("few_sessions", {
  ...eachFilter("list", ({ table, column }, name) =>
    table === undefined
      ? `SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND (${sessionTest(name, "?2")}) LIMIT ?3`
      : `SELECT session FROM ${table} WHERE tenant = ?1 AND ${column} = ?2 LIMIT ?3`,
  ),
  repo: `SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.repo IS NOT NULL
    AND (${sessionTest("repo", "?2")}) LIMIT ?3`,
  /** The range up to the last code point holds every key with the prefix. */
  keyPrefix: `SELECT session FROM sessions WHERE tenant = ?1 AND origin_key >= ?2
    AND origin_key <= ?2 || char(1114111, 1114111) LIMIT ?3`,
});

export function listSessions(
  db: SqliteConnection,
  name: string,
  filter: SessionFilter,
  page: SessionPage,
): { sessions: readonly Session[]; next?: SessionPosition } {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return { sessions: [] };
  const since = filter.since ?? 0;
  const end = endOf(filter, page);
  const few = findFew(db, tenant, filter);
  const rows =
    few === undefined
      ? db.all(
          SQL.walk,
          tenant,
          page.limit + 1,
          ...valuesOf(filter),
          since,
          end.lastInteractionAt,
          end.number,
        )
      : readFew(db, tenant, few, filter, since, end, page.limit + 1);
  const shown = rows.slice(0, page.limit);
  const sessions = toSessions(db, name, tenant, shown);
  const last = shown.at(-1);
  if (rows.length <= page.limit || last === undefined) return { sessions };
  const next = {
    lastInteractionAt: Number(last["last_interaction_at"]),
    number: Number(last["session"]),
  };
  return { sessions, next };
}

/** The page's upper bound: the end of the last page, or the filter's. */
function endOf(filter: SessionFilter, page: SessionPage): SessionPosition {
  const until = { lastInteractionAt: filter.until ?? Number.MAX_SAFE_INTEGER, number: 0 };
  if (page.after === undefined) return until;
  return page.after.lastInteractionAt < until.lastInteractionAt ? page.after : until;
}

/** The sessions that the most selective indexed filter keeps, if they are few. */
function findFew(
  db: SqliteConnection,
  tenant: number,
  filter: SessionFilter,
): number[] | undefined {
  for (const name of INDEXED) {
    const value = filter[name];
    if (value === undefined) continue;
    const rows = db.all(FEW_OF[name], tenant, value, FEW + 1);
    if (rows.length <= FEW) return rows.map((row) => Number(row["session"]));
  }
  return undefined;
}

function readFew(
  db: SqliteConnection,
  tenant: number,
  few: readonly number[],
  filter: SessionFilter,
  since: number,
  end: SessionPosition,
  limit: number,
): SqlRow[] {
  const { lastInteractionAt, number } = end;
  const order = db.all(SQL.sortFew, tenant, JSON.stringify(few), since, lastInteractionAt, number);
  const values = valuesOf(filter);
  const rows: SqlRow[] = [];
  for (const { session } of order) {
    if (rows.length === limit) break;
    const row = db.get(SQL.readOne, tenant, session ?? null, ...values);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** From the third parameter on. */
function valuesOf(filter: SessionFilter): SqlValue[] {
  return [
    filter.machineMade === false ? 1 : null,
    filter.metadata === undefined ? null : JSON.stringify(filter.metadata),
    ...filterValues(filter),
  ];
}
