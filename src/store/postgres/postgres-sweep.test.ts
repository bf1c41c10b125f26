import { beforeAll, expect, onTestFinished, test } from "vitest";
import { connect, createDatabase, query } from "../../../test/support/postgres.ts";
import { createSession, nextId, T0 } from "../cases/fixture.cases.ts";
import type { Store } from "../store.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

let address: string;

beforeAll(async () => {
  address = await createDatabase();
});

async function open(): Promise<Store> {
  const store = await openPostgresStore(address);
  onTestFinished(() => store.close());
  return store;
}

/** Sweeps while another transaction locks and changes the rows of `table`. */
async function sweepDuring(store: Store, tenant: string, table: string, change: string) {
  const other = await connect(address);
  await other.query(`BEGIN; SELECT 1 FROM ${table} FOR UPDATE`);
  const sweeping = store.sweep({ tenant, now: T0 + 60_000, limit: 10 });
  const waiting =
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  await expect.poll(async () => (await query(address, waiting))[0]?.["count"]).toBe(1);
  await other.query(`UPDATE ${table} SET ${change}; COMMIT`);
  await other.end();
  return sweeping;
}

test("a sweep rechecks under the lock: it spares a message whose lease was renewed", async () => {
  const store = await open();
  const { id } = await createSession(store, "streams");
  const stream = { sessionId: id, id: nextId(), holder: "me", leaseMs: -1_000, now: T0 };
  const who = { role: "user", actor: null, metadata: null, model: null, adapter: null } as const;
  await store.openStream("streams", { ...stream, ...who });
  const renewed = "expires_at = expires_at + 3600000";
  const swept = await sweepDuring(store, "streams", "streams", renewed);
  expect(swept).toMatchObject({ abortedMessages: [], more: false });
  expect(await store.findPending("streams", stream.id)).toBeDefined();
});

test("a sweep rechecks under the lock: it spares a session that was appended to", async () => {
  const store = await open();
  const { id } = await createSession(store, "ttl", { ttl: 60 });
  const swept = await sweepDuring(store, "ttl", "session_state", "updated_at = updated_at + 1");
  expect(swept.deletedSessions).toEqual([]);
  expect(await store.findSession("ttl", id)).toBeDefined();
  const later = await store.sweep({ tenant: "ttl", now: T0 + 60_001, limit: 10 });
  expect(later.deletedSessions).toHaveLength(1);
});

test("a sweep takes no lock of a tenant with no due rows", async () => {
  const store = await open();
  await createSession(store, "idle");
  const other = await connect(address);
  await other.query("BEGIN; SELECT 1 FROM tenants FOR UPDATE");
  const swept = await store.sweep({ tenant: "idle", now: T0, limit: 10 });
  expect(swept).toMatchObject({ deletedSessions: [], deletedRecords: 0, more: false });
  await other.query("ROLLBACK");
  await other.end();
});
