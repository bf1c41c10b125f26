import { expect, test } from "vitest";
import { connect, createDatabase, query } from "../../../test/support/postgres.ts";
import { append, createSession, message } from "../cases/fixture.cases.ts";
import { registeredStatements } from "../statements.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

const SMALL_TENANTS = 1_000;
const SESSIONS = 50;
/** Per session. */
const MESSAGES = 3;

/** The statements of a page of messages, with their values. */
function pageOf(session: { readonly number: number; readonly id: string }): [string, string][] {
  const kinds = "'message', 'compaction', 'custom_message', 'branch_summary'";
  return [
    ["session_state.read", `1, '${session.id}'`],
    ["chains.chainsToRoot", `1, '${session.id}', NULL`],
    ["read_entries.marks", `1, '${session.id}'`],
    ["read_entries.history", `1, ${session.number}, 1, 1000, 1000, ${kinds}, 2`],
  ];
}

test("a generic plan reads a large tenant by its keys, beside a thousand small ones", async () => {
  const address = await createDatabase();
  const store = await openPostgresStore(address);
  const ids: string[] = [];
  for (let i = 0; i < SESSIONS; i++) {
    const { id } = await createSession(store, "large");
    const messages = Array.from({ length: MESSAGES }, (_, n) => message(`${n}`));
    await append(store, "large", id, ...messages);
    ids.push(id);
  }
  await store.close();
  // Small tenants: one session each, as the large one's first.
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
  for (const [name, values] of pageOf({ number: SESSIONS, id: ids.at(-1) ?? "" })) {
    const { sql } = registeredStatements().find(
      (statement) => statement.backend === "postgres" && statement.name === name,
    ) ?? { sql: "" };
    await client.query(`PREPARE page AS ${sql}`);
    const { rows } = await client.query(`EXPLAIN (ANALYZE) EXECUTE page(${values})`);
    await client.query("DEALLOCATE page");
    const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
    expect(plan, name).toContain("Index");
    const removed = [...plan.matchAll(/Rows Removed by .*: (\d+)/g)].map(([, rows]) =>
      Number(rows),
    );
    // No row of another session is read.
    expect(Math.max(0, ...removed), name).toBeLessThanOrEqual(MESSAGES);
  }
  await client.end();
});
