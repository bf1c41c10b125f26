import { expect, test } from "vitest";
import { connect, createDatabase, query } from "../../../test/support/postgres.ts";
import { append, createSession, message } from "../cases/fixture.cases.ts";
import { registeredStatements } from "../statements.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

/** Enough that the planner estimates a session at a few rows, and an index at many pages. */
const SMALL_TENANTS = 10_000;
const SESSIONS = 50;
/** Messages of each session, and of the last one. */
const MESSAGES = 3;
const LONG = 600;
/** More than a statement below may read of a table: a page of two, and the entries around it. */
const FEW_ROWS = 20;

/** Statements that name entries or places of a long session, with their values. */
function statementsOn(
  session: { readonly number: number; readonly id: string },
  entry: string,
): [string, string][] {
  const kinds = "'message', 'compaction', 'custom_message', 'branch_summary'";
  const { number, id } = session;
  const window = [1, number, 1, 299, 301, 600].map((value) => `ARRAY[${value}]::bigint[]`);
  return [
    ["session_state.read", `1, '${id}'`],
    ["session_state.findPoints", `1, '${id}', ARRAY['${entry}']`],
    ["session_state.chainsToRoot", `1, '${id}', NULL`],
    ["session_state.chainsToRoot", `1, '${id}', '${entry}'`],
    ["read_entries.marks", `1, '${id}'`],
    ["read_entries.history", `1, ${number}, 1, 600, 600, ${kinds}, 2`],
    ["read_entries.path", `1, ${number}, 1, 600, 600, 300, 300, 300, 2`],
    ["read_entries.messages", `1, ${number}, 1, 300, 301, 600, 2`],
    ["read_entries.tree", `1, ${number}, 300, 2`],
    ["read_entries.findById", `1, ARRAY['${entry}']`],
    ["erase_content.find", `1, '${id}', ARRAY['${entry}']`],
    ["append.parents", `1, '${id}', ARRAY['${entry}']`],
    ["windows.messages", `1, ${window.join(", ")}`],
  ];
}

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The most rows that one node of the plan reads of a table. */
function rowsRead(node: PlanNode): number {
  const removed =
    (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const own = node["Relation Name"] === undefined ? 0 : node["Actual Rows"] + removed;
  return Math.max(own * node["Actual Loops"], ...(node.Plans ?? []).map(rowsRead));
}

test("generic plans read a long session by key, beside 10,000 small tenants", async () => {
  const address = await createDatabase();
  const store = await openPostgresStore(address);
  const sessions: string[] = [];
  let entry = "";
  for (let i = 1; i <= SESSIONS; i++) {
    const { id } = await createSession(store, "large");
    const length = i === SESSIONS ? LONG : MESSAGES;
    const messages = Array.from({ length }, (_, n) => message(`${n}`));
    await append(store, "large", id, ...messages);
    sessions.push(id);
    entry = messages[LONG / 2]?.id ?? "";
  }
  await store.close();
  // Small tenants: a copy of the large one's first session each.
  for (const table of ["sessions", "session_state", "chains", "entries"]) {
    const columns = await query(
      address,
      `SELECT string_agg(quote_ident(attname), ', ') AS names FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND attname <> 'tenant'`,
      [table],
    );
    const names = String(columns[0]?.["names"]);
    await query(
      address,
      `INSERT INTO ${table} (tenant, ${names}) SELECT small, ${names}
        FROM ${table}, generate_series(2, ${SMALL_TENANTS}) small WHERE tenant = 1 AND session = 1`,
    );
  }
  await query(address, "ANALYZE");

  const client = await connect(address);
  await client.query("SET plan_cache_mode = force_generic_plan");
  const long = { number: SESSIONS, id: sessions.at(-1) ?? "" };
  const read: [string, number][] = [];
  for (const [name, values] of statementsOn(long, entry)) {
    const { sql } = registeredStatements().find(
      (statement) => statement.backend === "postgres" && statement.name === name,
    ) ?? { sql: "" };
    await client.query(`PREPARE named AS ${sql}`);
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE named(${values})`);
    await client.query("DEALLOCATE named");
    const [{ Plan: plan }] = rows[0]["QUERY PLAN"] as [{ readonly Plan: PlanNode }];
    read.push([name, rowsRead(plan)]);
  }
  await client.end();
  expect(read.filter(([, rows]) => rows > FEW_ROWS)).toEqual([]);
  // Guards against plans that read nothing at all.
  expect(Math.max(...read.map(([, rows]) => rows))).toBeGreaterThan(0);
});
