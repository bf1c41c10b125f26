/**
 * Pages of sessions, newest interaction first.
 *
 * Two plans, and the cheaper one is taken. Walking the interaction index stops after a page, but
 * visits n/m sessions for each that a filter keeps; starting from the filter's own index visits all
 * m that it keeps. The second is used while m is small, so that no page costs more than about the
 * square root of the number of sessions, and no append has to maintain an index per filter.
 */

import type { Session } from "../../../model/session.ts";
import type { SessionFilter, SessionPage, SessionPosition } from "../../records.ts";
import { SESSION_COLUMNS } from "../../rows/session-row.ts";
import { foldTitle } from "../../title.ts";
import type { SqliteConnection, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { findTenant } from "./feed.ts";
import { toSessions } from "./sessions.ts";

/** Up to this many sessions are fetched and sorted instead of walking the interaction index. */
const FEW = 2_000;

/** Each condition is off while its first parameter is null. */
const CONDITIONS = `(?3 IS NULL OR s.agent = ?3)
    AND (?4 IS NULL OR s.owner = ?4)
    AND (?5 IS NULL OR s.project_id = ?5)
    AND (?6 IS NULL OR s.workstation = ?6)
    AND (?7 IS NULL OR s.source = ?7)
    AND (?8 IS NULL OR s.parent_session_id = ?8)
    AND (?9 IS NULL OR EXISTS (SELECT 1 FROM participants p
      WHERE p.tenant = ?1 AND p.session = s.session AND p.actor = ?9))
    AND (?10 IS NULL OR instr(s.title_folded, ?10) > 0)
    AND (?11 IS NULL OR t.last_interaction_at >= ?11)
    AND (?12 IS NULL OR t.last_interaction_at < ?12)
    AND (t.last_interaction_at, t.session) < (?13, ?14)
  ORDER BY t.last_interaction_at DESC, t.session DESC LIMIT ?2`;

const SQL = statements("list_sessions", {
  walk: `SELECT ${SESSION_COLUMNS} FROM session_state t INDEXED BY session_state_by_interaction
    CROSS JOIN sessions s ON s.tenant = t.tenant AND s.session = t.session
    WHERE t.tenant = ?1 AND ${CONDITIONS}`,
  fetch: `SELECT ${SESSION_COLUMNS} FROM json_each(?15) few
    CROSS JOIN session_state t ON t.tenant = ?1 AND t.session = few.value
    CROSS JOIN sessions s ON s.tenant = t.tenant AND s.session = t.session
    WHERE t.tenant = ?1 AND ${CONDITIONS}`,
  byAgent: `SELECT session FROM sessions WHERE tenant = ? AND agent = ? LIMIT ?`,
  byOwner: `SELECT session FROM sessions WHERE tenant = ? AND owner = ? LIMIT ?`,
  byProject: `SELECT session FROM sessions WHERE tenant = ? AND project_id = ? LIMIT ?`,
  byWorkstation: `SELECT session FROM sessions WHERE tenant = ? AND workstation = ? LIMIT ?`,
  bySource: `SELECT session FROM sessions WHERE tenant = ? AND source = ? LIMIT ?`,
  byParent: `SELECT session FROM sessions WHERE tenant = ? AND parent_session_id = ? LIMIT ?`,
  byParticipant: `SELECT session FROM participants WHERE tenant = ? AND actor = ? LIMIT ?`,
});

/** The statement that finds the few sessions of each filter that has an index. */
const INDEXED: readonly [keyof SessionFilter, string][] = [
  ["parentSessionId", SQL.byParent],
  ["participant", SQL.byParticipant],
  ["projectId", SQL.byProject],
  ["owner", SQL.byOwner],
  ["agent", SQL.byAgent],
  ["workstation", SQL.byWorkstation],
  ["source", SQL.bySource],
];

export function listSessions(
  db: SqliteConnection,
  name: string,
  filter: SessionFilter,
  page: SessionPage,
): { sessions: readonly Session[]; next?: SessionPosition } {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return { sessions: [] };
  const values: SqlValue[] = [
    tenant,
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
  ];
  const few = findFew(db, tenant, filter);
  const rows =
    few === undefined
      ? db.all(SQL.walk, ...values)
      : db.all(SQL.fetch, ...values, JSON.stringify(few));
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
