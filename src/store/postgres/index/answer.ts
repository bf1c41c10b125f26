/** Answers the index's reads. */

import { filterRow, filtersOf, type SessionFilterName } from "../../../model/session-filters.ts";
import type { Answers, Need, SessionCondition, SessionPath } from "../../../search/port.ts";
import { IS_WHOLE, toSessionPaths } from "../../index/window.ts";
import { sessionTest } from "../operations/list-sessions.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { readFeedSlice } from "./feed-slice.ts";
import { readManifest } from "./manifest.ts";
import { readBlobs } from "./segments.ts";
import { readWindows } from "./windows.ts";

/** The condition of a filter, for a list of values. */
function scopeTest(name: SessionFilterName, values: string): string {
  const { table, column, kind } = filterRow(name);
  if (name === "excludeSession") return `s.id <> ALL (${values})`;
  if (column === undefined) {
    const isGiven = kind === undefined ? "wanted.value <> ''" : "true";
    return `EXISTS (SELECT 1 FROM unnest(${values}) AS wanted (value)
        WHERE ${isGiven} AND (${sessionTest(name, "wanted.value")}))`;
  }
  return table === undefined
    ? `s.${column} = ANY (${values})`
    : `s.session IN (SELECT m.session FROM ${table} m
      WHERE m.tenant = $1 AND m.${column} = ANY (${values}))`;
}

const SQL = statements("answers", {
  active: `WITH RECURSIVE up (session, whole, chain, depth) AS (
      SELECT t.session, ${IS_WHOLE}::int, t.leaf_chain, t.leaf_depth
        FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted (session, rank)
        JOIN session_state t ON t.tenant = $1 AND t.session = wanted.session
      UNION ALL
      SELECT up.session, up.whole, c.parent_chain, c.fork_depth FROM up
        JOIN chains c ON c.tenant = $1 AND c.session = up.session AND c.chain = up.chain
        WHERE c.parent_chain > 0)
    SELECT session, whole, chain, depth FROM up`,
  /**
   * Each condition is off while its parameter is null. The statement is planned for each call, so
   * that conditions that are off vanish from the plan.
   */
  sessions: `SELECT s.session FROM sessions s WHERE s.tenant = $1
    ${filtersOf("search")
      .map(([name, { kind }], i) => {
        const type = kind === undefined ? "text" : "bigint";
        return `AND ($${i + 2}::${type}[] IS NULL OR ${scopeTest(name, `$${i + 2}`)})`;
      })
      .join("\n    ")}
    ORDER BY s.session`,
  count: `SELECT session_count FROM tenants WHERE tenant = $1`,
});

type ReadNeed = Exclude<Need, { need: "write" | "swap" | "yield" }>;

export async function answerRead(
  tx: Transaction,
  need: ReadNeed,
): Promise<Answers[ReadNeed["need"]]> {
  switch (need.need) {
    case "manifest":
      return readManifest(tx);
    case "feed":
      return readFeedSlice(tx, need.after, need.limit, need.whole);
    case "blobs":
      return readBlobs(tx, need.keys);
    case "paths":
      return readPaths(tx, need.sessions);
    case "scope":
      return readScope(tx, need.scope);
    case "sessionCount":
      return countSessions(tx);
    case "windows":
      return readWindows(tx, need.windows);
  }
}

async function readPaths(tx: Transaction, sessions: readonly number[]): Promise<SessionPath[]> {
  return toSessionPaths(await tx.all(SQL.active, tx.tenant, sessions));
}

/** Ascending. */
async function readScope(tx: Transaction, scope: SessionCondition): Promise<Uint32Array> {
  const lists = filtersOf("search").map(([name]) => scope[name]);
  const values = [tx.tenant, ...lists.map((list) => list ?? null)];
  const [rows = []] = await tx.together([{ sql: SQL.sessions, values, planned: "each time" }]);
  return Uint32Array.from(rows, (row) => Number(row["session"]));
}

async function countSessions(tx: Transaction): Promise<number> {
  const row = await tx.get(SQL.count, tx.tenant);
  return Number(row?.["session_count"] ?? 0);
}
