/** The sessions in a search's scope. */

import type { SessionCondition } from "../../../search/port.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

const SQL = statements("scope", {
  /**
   * Each condition is off while its parameter is null. The statement is planned for each call, so
   * that conditions that are off vanish from the plan.
   */
  sessions: `SELECT s.session FROM sessions s WHERE s.tenant = $1
    AND ($2::text[] IS NULL OR s.agent = ANY ($2))
    AND ($3::text[] IS NULL OR s.owner = ANY ($3))
    AND ($4::text[] IS NULL OR s.session IN (SELECT p.session FROM participants p
      WHERE p.tenant = $1 AND p.actor = ANY ($4)))
    AND ($5::text[] IS NULL OR EXISTS (SELECT 1 FROM unnest($5) AS wanted (value)
      WHERE wanted.value <> '' AND (s.project_id = wanted.value OR s.project_path = wanted.value
        OR right(s.project_path, length(wanted.value) + 1)
          IN ('/' || wanted.value, '\\' || wanted.value))))
    AND ($6::text[] IS NULL OR s.workstation = ANY ($6))
    AND ($7::text[] IS NULL OR s.git_branch = ANY ($7))
    AND ($8::text[] IS NULL OR s.source = ANY ($8))
    AND ($9::text[] IS NULL OR s.id = ANY ($9))
    AND ($10::text[] IS NULL OR s.id <> ALL ($10))
    AND ($11::text[] IS NULL OR EXISTS (SELECT 1 FROM unnest($11) AS wanted (value)
      WHERE wanted.value <> '' AND (s.repo = wanted.value
        OR right(s.repo, length(wanted.value) + 1) = '/' || wanted.value)))
    AND ($12::text[] IS NULL OR s.session IN (SELECT m.session FROM session_models m
      WHERE m.tenant = $1 AND m.model = ANY ($12)))
    ORDER BY s.session`,
  count: `SELECT session_count FROM tenants WHERE tenant = $1`,
});

/** Ascending. */
export async function readScope(tx: Transaction, scope: SessionCondition): Promise<Uint32Array> {
  const values = [
    tx.tenant,
    scope.agents ?? null,
    scope.owners ?? null,
    scope.participants ?? null,
    scope.projects ?? null,
    scope.workstations ?? null,
    scope.gitBranches ?? null,
    scope.sources ?? null,
    scope.sessionIds ?? null,
    scope.excludedSessionIds ?? null,
    scope.repos ?? null,
    scope.models ?? null,
  ];
  const [rows = []] = await tx.together([{ sql: SQL.sessions, values, planned: "each time" }]);
  return Uint32Array.from(rows, (row) => Number(row["session"]));
}

export async function countSessions(tx: Transaction): Promise<number> {
  const row = await tx.get(SQL.count, tx.tenant);
  return Number(row?.["session_count"] ?? 0);
}
