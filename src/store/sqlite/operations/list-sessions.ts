/**
 * Keyset pagination of sessions, newest interaction first.
 *
 * Cost-based choice of two plans for a filter with m matches among n sessions. A scan of the
 * interaction index stops after a page, but visits n/m sessions for each match; the filter's own
 * index finds all m matches, which are then sorted. The second is used while m is small, so that no
 * page costs more than about the square root of n, without a composite index per filter.
 */

import type { Session } from "../../../model/session.ts";
import type { SessionFilter, SessionPage, SessionPosition } from "../../records.ts";
import { SESSION_COLUMNS } from "../../rows/session-row.ts";
import { foldTitle } from "../../title.ts";
import type { SqliteConnection, SqlRow, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findTenant } from "./feed.ts";
import { toSessions } from "./sessions.ts";

/** Up to this many matches are sorted instead of scanning the interaction index. */
const FEW = 1_000;

/** As in a search's filter by project: the id, the path, or the end of the path. */
function inProject(name: string): string {
  return `s.project_id = ${name} OR s.project_path = ${name}
    OR substr(s.project_path, -length(${name}) - 1) IN ('/' || ${name}, '\\' || ${name})`;
}

/** Damaged JSON is reported when the session is read. Test the text first, which is cheaper. */
const METADATA = "CAST(s.metadata AS TEXT)";
const IS_MACHINE_MADE = `CASE WHEN instr(${METADATA}, '"machineMade"') > 0 AND json_valid(${METADATA})
      THEN json_type(${METADATA}, '$.machineMade') IS 'true' ELSE 0 END`;

/** JSON writes each scalar in one way, so equal values have equal types and texts. */
const HAS_METADATA = `CASE WHEN json_valid(${METADATA}) THEN NOT EXISTS (
      SELECT 1 FROM json_each(?15) wanted WHERE NOT EXISTS (
        SELECT 1 FROM json_each(${METADATA}) has
        WHERE has.key = wanted.key AND has.type = wanted.type AND has.atom = wanted.atom))
      ELSE 0 END`;

/** Each filter is off while its parameter is null. */
const FILTERS = `(?3 IS NULL OR s.agent = ?3)
    AND (?4 IS NULL OR s.owner = ?4)
    AND (?5 IS NULL OR s.project_id = ?5)
    AND (?6 IS NULL OR s.workstation = ?6)
    AND (?7 IS NULL OR s.source = ?7)
    AND (?8 IS NULL OR s.parent_session_id = ?8)
    AND (?9 IS NULL OR EXISTS (SELECT 1 FROM participants p
      WHERE p.tenant = ?1 AND p.session = s.session AND p.actor = ?9))
    AND (?10 IS NULL OR instr(s.title_folded, ?10) > 0)
    AND (?11 IS NULL OR s.repo = ?11 OR substr(s.repo, -length(?11) - 1) = '/' || ?11)
    AND (?12 IS NULL OR ${inProject("?12")})
    AND (?13 IS NULL OR NOT ${IS_MACHINE_MADE})
    AND (?14 IS NULL OR substr(s.origin_key, 1, length(?14)) = ?14)
    AND (?15 IS NULL OR ${HAS_METADATA})
    AND (?16 IS NULL OR EXISTS (SELECT 1 FROM session_models m
      WHERE m.tenant = ?1 AND m.session = s.session AND m.model = ?16))`;

const SQL = statements("list_sessions", {
  walk: `SELECT ${SESSION_COLUMNS} FROM session_state t INDEXED BY session_state_by_interaction
    CROSS JOIN sessions s ON s.tenant = t.tenant AND s.session = t.session
    WHERE t.tenant = ?1 AND ${FILTERS}
      AND t.last_interaction_at >= ?17 AND (t.last_interaction_at, t.session) < (?18, ?19)
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
  byAgent: `SELECT session FROM sessions WHERE tenant = ? AND agent = ? LIMIT ?`,
  byOwner: `SELECT session FROM sessions WHERE tenant = ? AND owner = ? LIMIT ?`,
  byProject: `SELECT session FROM sessions WHERE tenant = ? AND project_id = ? LIMIT ?`,
  byWorkstation: `SELECT session FROM sessions WHERE tenant = ? AND workstation = ? LIMIT ?`,
  byRepo: `SELECT session FROM sessions WHERE tenant = ?1 AND repo IS NOT NULL
    AND (repo = ?2 OR substr(repo, -length(?2) - 1) = '/' || ?2) LIMIT ?3`,
  byProjectName: `SELECT s.session FROM sessions s WHERE s.tenant = ?1
    AND (${inProject("?2")}) LIMIT ?3`,
  bySource: `SELECT session FROM sessions WHERE tenant = ? AND source = ? LIMIT ?`,
  byParent: `SELECT session FROM sessions WHERE tenant = ? AND parent_session_id = ? LIMIT ?`,
  /** The range up to the last code point holds every key with the prefix. */
  byKeyPrefix: `SELECT session FROM sessions WHERE tenant = ?1 AND origin_key >= ?2
    AND origin_key <= ?2 || char(1114111, 1114111) LIMIT ?3`,
  byParticipant: `SELECT session FROM participants WHERE tenant = ? AND actor = ? LIMIT ?`,
  byModel: `SELECT session FROM session_models WHERE tenant = ? AND model = ? LIMIT ?`,
});

type IndexedFilter = Exclude<keyof SessionFilter, "machineMade" | "metadata">;

/** The statement that finds the few sessions of each filter that has an index. */
const INDEXED: readonly [IndexedFilter, string][] = [
  ["keyPrefix", SQL.byKeyPrefix],
  ["parentSessionId", SQL.byParent],
  ["participant", SQL.byParticipant],
  ["projectId", SQL.byProject],
  ["project", SQL.byProjectName],
  ["repo", SQL.byRepo],
  ["owner", SQL.byOwner],
  ["agent", SQL.byAgent],
  ["workstation", SQL.byWorkstation],
  ["source", SQL.bySource],
  ["model", SQL.byModel],
];

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
          ...filterValues(filter),
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
  for (const [field, sql] of INDEXED) {
    const value = filter[field];
    if (value === undefined) continue;
    const rows = db.all(sql, tenant, value, FEW + 1);
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
  const values = filterValues(filter);
  const rows: SqlRow[] = [];
  for (const { session } of order) {
    if (rows.length === limit) break;
    const row = db.get(SQL.readOne, tenant, session ?? null, ...values);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

function filterValues(filter: SessionFilter): SqlValue[] {
  return [
    filter.agent ?? null,
    filter.owner ?? null,
    filter.projectId ?? null,
    filter.workstation ?? null,
    filter.source ?? null,
    filter.parentSessionId ?? null,
    filter.participant ?? null,
    filter.title === undefined ? null : foldTitle(filter.title),
    filter.repo ?? null,
    filter.project ?? null,
    filter.machineMade === false ? 1 : null,
    filter.keyPrefix ?? null,
    filter.metadata === undefined ? null : JSON.stringify(filter.metadata),
    filter.model ?? null,
  ];
}
