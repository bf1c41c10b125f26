import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { createDatabase, query, withAddress } from "../../../test/support/postgres.ts";
import { append, createSession, label, message, nextId, T0 } from "../cases/fixture.cases.ts";
import { ingested, original } from "../cases/ingest.cases.ts";
import { recordPut } from "../cases/records.cases.ts";
import { newRoute } from "../cases/routes.cases.ts";
import { newToken } from "../cases/tokens.cases.ts";
import type { Store } from "../store.ts";
import { DERIVED_TABLES, INDEX_TABLES, TABLES } from "../tables.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

const KEYED = TABLES.filter((table) => table !== "tenants");

/** A program logs in as a plain role, and its statements omit the tenant. */
describe("row-level security", () => {
  let address: string;
  let reader: string;

  beforeAll(async () => {
    address = await createDatabase();
    const store = await openPostgresStore(address);
    for (const tenant of ["a", "b"]) await fill(store, tenant);
    await store.close();
    const role = `reader_${nextId().toLowerCase()}`;
    await query(address, `CREATE ROLE ${role} LOGIN PASSWORD 'reader'`);
    await query(address, `GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
    reader = withAddress(address, (url) => {
      url.username = role;
      url.password = "reader";
    });
  });

  /** The tenants whose rows a role sees in a table, under a setting. */
  async function seen(role: string, table: string, tenant?: number): Promise<number[]> {
    const client = new pg.Client(role);
    await client.connect();
    await client.query("BEGIN");
    if (tenant !== undefined) {
      await client.query("SELECT set_config('backscroll.tenant', $1, true)", [String(tenant)]);
    }
    const { rows } = await client.query(`SELECT DISTINCT tenant::int FROM ${table} ORDER BY 1`);
    await client.end();
    return rows.map((row) => row.tenant as number);
  }

  test.each(KEYED)("shows of %s only rows of the transaction's tenant", async (table) => {
    for (const role of [reader, address]) {
      expect(await seen(role, table)).toEqual([]);
      expect(await seen(role, table, 1)).toEqual([1]);
      expect(await seen(role, table, 2)).toEqual([2]);
    }
  });

  test("refuses to write or move rows of other tenants", async () => {
    const client = new pg.Client(reader);
    await client.connect();
    const set = "SELECT set_config('backscroll.tenant', '1', true)";
    await client.query("BEGIN");
    await client.query(set);
    const { rowCount } = await client.query("UPDATE sessions SET title = 'mine'");
    expect(rowCount).toBe(1);
    const moved = client.query("UPDATE sessions SET tenant = 2, session = 9");
    await expect(moved).rejects.toMatchObject({ code: "42501" });
    await client.query("ROLLBACK");
    const outside = await client.query("DELETE FROM entries");
    expect(outside.rowCount).toBe(0);
    await client.end();
  });

  test("shows the token whose id is set, read-only, and no other", async () => {
    const ids = await query(address, "SELECT id FROM access_tokens ORDER BY id");
    const [first, ...others] = ids.map((row) => String(row["id"]));
    expect(others).toHaveLength(1);
    const client = new pg.Client(reader);
    await client.connect();
    await client.query("BEGIN");
    const named = async (id: string) => {
      await client.query("SELECT set_config('backscroll.token', $1, true)", [id]);
      return (await client.query("SELECT id FROM access_tokens")).rows;
    };
    for (const none of ["", "%", "none"]) expect(await named(none)).toEqual([]);
    expect(await named(first ?? "")).toEqual([{ id: first }]);
    const changed = await client.query("UPDATE access_tokens SET scope = 'admin'");
    const deleted = await client.query("DELETE FROM access_tokens");
    expect([changed.rowCount, deleted.rowCount]).toEqual([0, 0]);
    await client.end();
  });

  test("covers every table that has a tenant", async () => {
    const rows = await query(
      address,
      `SELECT c.relname AS name FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
        WHERE c.relkind = 'r' AND c.relrowsecurity AND c.relforcerowsecurity ORDER BY 1`,
    );
    expect(rows.map((row) => row["name"])).toEqual(
      [...KEYED, ...INDEX_TABLES, ...DERIVED_TABLES].sort(),
    );
  });
});

async function fill(store: Store, tenant: string): Promise<void> {
  const idempotency = { key: "k", requestHash: "00".repeat(32) };
  const { id } = await createSession(store, tenant, { idempotency });
  const { leaf } = await append(store, tenant, id, message("x".repeat(9_999)));
  await append(store, tenant, id, label("l", leaf ?? ""));
  const stream = { sessionId: id, id: nextId(), holder: "me", leaseMs: 9_999, now: T0 };
  const who = { role: "user", actor: null, metadata: null, model: null, adapter: null } as const;
  await store.openStream(tenant, { ...stream, ...who });
  await store.writeStream(tenant, { ...stream, chunks: '["x"]' });
  await store.putMemory(tenant, { agent: "a", name: "n", content: "x", metadata: {}, now: T0 });
  await store.writeRecords(tenant, { operations: [recordPut("n", "k", "x")], now: T0 });
  const fact = { subject: "s", predicate: "p", object: "o", sourceEntry: null, confidence: 1 };
  await store.addFacts(tenant, id, [{ ...fact, id: nextId(), sessionId: id, createdAt: T0 }], T0);
  await store.putIngestedFiles(tenant, "w", [ingested("/a")], T0);
  await store.putOriginal(tenant, "w", original("/a", { sessionIds: [id] }), T0);
  await store.createToken(tenant, newToken());
  await store.putRoute(tenant, newRoute({ sessionId: id }));
  const gone = await createSession(store, tenant);
  await store.deleteSession(tenant, gone.id, "user", T0);
}
