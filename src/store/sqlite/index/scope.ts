/**
 * Index intersection: the sessions in a search's scope.
 *
 * Each filter uses its own index where there is one, and the results are intersected here.
 */

import type { SessionCondition } from "../../../search/port.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";

const SQL = statements("scope", {
  all: `SELECT session FROM sessions WHERE tenant = ? ORDER BY session`,
  agents: `SELECT session FROM sessions WHERE tenant = ?
    AND agent IN (SELECT value FROM json_each(?))`,
  owners: `SELECT session FROM sessions WHERE tenant = ?
    AND owner IN (SELECT value FROM json_each(?))`,
  participants: `SELECT DISTINCT session FROM participants WHERE tenant = ?
    AND actor IN (SELECT value FROM json_each(?))`,
  /** By id, which has an index; or by the path or its last parts, which have none. */
  projects: `SELECT session FROM sessions WHERE tenant = ?1 AND project_id IS NOT NULL
      AND project_id IN (SELECT value FROM json_each(?2) WHERE value <> '')
    UNION SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.project_path IS NOT NULL
      AND EXISTS (SELECT 1 FROM json_each(?2) p WHERE p.value <> '' AND (s.project_path = p.value
        OR substr(s.project_path, -length(p.value) - 1) IN ('/' || p.value, '\\' || p.value)))`,
  workstations: `SELECT session FROM sessions WHERE tenant = ?
    AND workstation IN (SELECT value FROM json_each(?))`,
  /** The whole remote, or its last parts. */
  repos: `SELECT s.session FROM sessions s WHERE s.tenant = ?1 AND s.repo IS NOT NULL
    AND EXISTS (SELECT 1 FROM json_each(?2) r WHERE r.value <> '' AND (s.repo = r.value
      OR substr(s.repo, -length(r.value) - 1) = '/' || r.value))`,
  gitBranches: `SELECT session FROM sessions WHERE tenant = ?
    AND git_branch IN (SELECT value FROM json_each(?))`,
  sources: `SELECT session FROM sessions WHERE tenant = ?
    AND source IN (SELECT value FROM json_each(?))`,
  sessionIds: `SELECT session FROM sessions WHERE tenant = ?
    AND id IN (SELECT value FROM json_each(?))`,
  models: `SELECT DISTINCT session FROM session_models WHERE tenant = ?
    AND model IN (SELECT value FROM json_each(?))`,
  count: `SELECT session_count FROM tenants WHERE tenant = ?`,
});

/** The statement of each filter list. */
const LISTS = {
  sessionIds: SQL.sessionIds,
  participants: SQL.participants,
  owners: SQL.owners,
  agents: SQL.agents,
  workstations: SQL.workstations,
  sources: SQL.sources,
  projects: SQL.projects,
  repos: SQL.repos,
  gitBranches: SQL.gitBranches,
  models: SQL.models,
} as const satisfies Record<Exclude<keyof SessionCondition, "excludedSessionIds">, string>;

/** Ascending. */
export function readScope(
  db: SqliteConnection,
  tenant: number,
  scope: SessionCondition,
): Uint32Array {
  let kept: Set<number> | undefined;
  for (const [field, sql] of Object.entries(LISTS)) {
    const values = scope[field as keyof typeof LISTS];
    if (values === undefined) continue;
    const found = numbers(db.all(sql, tenant, JSON.stringify(values)));
    kept = new Set(kept === undefined ? found : found.filter((session) => kept?.has(session)));
  }
  kept ??= new Set(numbers(db.all(SQL.all, tenant)));
  if (scope.excludedSessionIds !== undefined) {
    const excluded = JSON.stringify(scope.excludedSessionIds);
    for (const session of numbers(db.all(SQL.sessionIds, tenant, excluded))) kept.delete(session);
  }
  return Uint32Array.from(kept).sort();
}

export function countSessions(db: SqliteConnection, tenant: number): number {
  return Number(db.get(SQL.count, tenant)?.["session_count"] ?? 0);
}

function numbers(rows: readonly Record<string, unknown>[]): number[] {
  return rows.map((row) => Number(row["session"]));
}
