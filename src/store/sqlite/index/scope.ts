/**
 * Index intersection: the sessions in a search's scope.
 *
 * Each filter uses its own index where there is one, and the results are intersected here.
 */

import { eachFilter, filtersOf } from "../../../model/session-filters.ts";
import type { SessionCondition } from "../../../search/port.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

/** The statement of each filter, for a list of values. */
const LISTS = statements("scope_of", {
  ...eachFilter("search", ({ table, column }) => {
    const from = table === undefined ? "session FROM sessions" : `DISTINCT session FROM ${table}`;
    return `SELECT ${from} WHERE tenant = ? AND ${column} IN (SELECT value FROM json_each(?))`;
  }),
  /** By id, which has an index; or by the path or its last parts, which have none. */
  project: `SELECT session FROM sessions WHERE tenant = ?1 AND project_id IS NOT NULL
      AND project_id IN (SELECT value FROM json_each(?2) WHERE value <> '')
    UNION SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.project_path IS NOT NULL
      AND EXISTS (SELECT 1 FROM json_each(?2) p WHERE p.value <> '' AND (s.project_path = p.value
        OR substr(s.project_path, -length(p.value) - 1) IN ('/' || p.value, '\\' || p.value)))`,
  /** The whole remote, or its last parts. */
  repo: `SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.repo IS NOT NULL
    AND EXISTS (SELECT 1 FROM json_each(?2) r WHERE r.value <> '' AND (s.repo = r.value
      OR substr(s.repo, -length(r.value) - 1) = '/' || r.value))`,
});

const SQL = statements("scope", {
  all: `SELECT session FROM sessions WHERE tenant = ? ORDER BY session`,
  count: `SELECT session_count FROM tenants WHERE tenant = ?`,
});

/** Ascending. */
export function readScope(
  db: SqliteConnection,
  tenant: number,
  scope: SessionCondition,
): Uint32Array {
  let kept: Set<number> | undefined;
  for (const [name, row] of filtersOf("search")) {
    const values = scope[row.scope as keyof SessionCondition];
    if (values === undefined || name === "excludeSession") continue;
    const found = numbers(db.all(LISTS[name], tenant, JSON.stringify(values)));
    kept = new Set(kept === undefined ? found : found.filter((session) => kept?.has(session)));
  }
  kept ??= new Set(numbers(db.all(SQL.all, tenant)));
  if (scope.excludedSessionIds !== undefined) {
    const excluded = JSON.stringify(scope.excludedSessionIds);
    for (const session of numbers(db.all(LISTS.excludeSession, tenant, excluded)))
      kept.delete(session);
  }
  return Uint32Array.from(kept).sort();
}

export function countSessions(db: SqliteConnection, tenant: number): number {
  return Number(db.get(SQL.count, tenant)?.["session_count"] ?? 0);
}

function numbers(rows: readonly Record<string, unknown>[]): number[] {
  return rows.map((row) => Number(row["session"]));
}
