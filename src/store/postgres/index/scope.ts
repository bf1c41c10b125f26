/** The sessions in a search's scope. */

import { eachFilter, filtersOf } from "../../../model/session-filters.ts";
import type { SessionCondition } from "../../../search/port.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";

/** The condition of each filter, for a list of values. */
const TESTS = eachFilter("search", ({ table, column }, name) => (values: string) => {
  const some = `EXISTS (SELECT 1 FROM unnest(${values}) AS wanted (value) WHERE wanted.value <> ''`;
  if (name === "excludeSession") return `s.id <> ALL (${values})`;
  if (name === "project") {
    return `${some} AND (s.project_id = wanted.value OR s.project_path = wanted.value
        OR right(s.project_path, length(wanted.value) + 1)
          IN ('/' || wanted.value, '\\' || wanted.value)))`;
  }
  if (name === "repo") {
    return `${some} AND (s.repo = wanted.value
        OR right(s.repo, length(wanted.value) + 1) = '/' || wanted.value))`;
  }
  return table === undefined
    ? `s.${column} = ANY (${values})`
    : `s.session IN (SELECT m.session FROM ${table} m
      WHERE m.tenant = $1 AND m.${column} = ANY (${values}))`;
});

const SQL = statements("scope", {
  /**
   * Each condition is off while its parameter is null. The statement is planned for each call, so
   * that conditions that are off vanish from the plan.
   */
  sessions: `SELECT s.session FROM sessions s WHERE s.tenant = $1
    ${Object.values(TESTS)
      .map((test, i) => `AND ($${i + 2}::text[] IS NULL OR ${test(`$${i + 2}`)})`)
      .join("\n    ")}
    ORDER BY s.session`,
  count: `SELECT session_count FROM tenants WHERE tenant = $1`,
});

/** Ascending. */
export async function readScope(tx: Transaction, scope: SessionCondition): Promise<Uint32Array> {
  const lists = filtersOf("search").map(([, row]) => scope[row.scope as keyof SessionCondition]);
  const values = [tx.tenant, ...lists.map((list) => list ?? null)];
  const [rows = []] = await tx.together([{ sql: SQL.sessions, values, planned: "each time" }]);
  return Uint32Array.from(rows, (row) => Number(row["session"]));
}

export async function countSessions(tx: Transaction): Promise<number> {
  const row = await tx.get(SQL.count, tx.tenant);
  return Number(row?.["session_count"] ?? 0);
}
