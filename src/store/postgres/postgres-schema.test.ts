import { describe, expect, onTestFinished, test } from "vitest";
import {
  connect,
  createEmptyDatabase,
  query,
  withAddress,
} from "../../../test/support/postgres.ts";
import { append, createSession, expectCode, message } from "../cases/fixture.cases.ts";
import type { Store, StoreOptions } from "../store.ts";
import { openPostgresStore } from "./open-postgres-store.ts";
import { PostgresPool } from "./postgres-driver.ts";
import { migrate } from "./postgres-schema.ts";
import { POSTGRES_MIGRATIONS } from "./schema/index.ts";

async function open(address: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openPostgresStore(address, options);
  onTestFinished(() => store.close());
  return store;
}

describe("opening", () => {
  test("creates the schema once for concurrent processes", async () => {
    const address = await createEmptyDatabase();
    const stores = await Promise.all(Array.from({ length: 10 }, () => open(address)));
    const heads = await Promise.all(stores.map((store) => store.feedHead("a")));
    expect(new Set(heads.map((head) => head.epoch)).size).toBe(1);
    expect(heads[0]?.epoch).not.toBe("");
    const versions = await query(address, "SELECT version::int, name FROM schema ORDER BY 1");
    expect(versions).toEqual(POSTGRES_MIGRATIONS.map(({ version, name }) => ({ version, name })));
  });

  test("creates nothing with create: false", async () => {
    const address = await createEmptyDatabase();
    await expectCode(open(address, { create: false }), "store_not_found");
    await expectCode(open(address, { readOnly: true }), "store_not_found");
    const tables = await query(address, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'");
    expect(tables).toEqual([]);
    await open(address);
    await open(address, { create: false });
  });

  test("read-only reads existing rows and refuses to write", async () => {
    const address = await createEmptyDatabase();
    const writer = await open(address);
    const { id } = await createSession(writer, "a");
    const reader = await open(address, { readOnly: true });
    expect(await reader.findSession("a", id)).toBeDefined();
    await expectCode(createSession(reader, "a"), "store_read_only");
    await expectCode(append(reader, "a", id, message("x")), "store_read_only");
    await expectCode(reader.load(writer.dump()), "store_read_only");
    expect((await writer.findSession("a", id))?.entryCount).toBe(0);
  });

  test("refuses the database of another program", async () => {
    const address = await createEmptyDatabase();
    await query(address, "CREATE TABLE sessions (theirs text)");
    await expectCode(open(address), "foreign_database", { tables: "sessions" });
    await expectCode(open(address, { readOnly: true }), "foreign_database");
    const tables = await query(
      address,
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    );
    expect(tables).toEqual([{ tablename: "sessions" }]);
  });

  test("uses its own schema beside another program", async () => {
    const address = await createEmptyDatabase();
    const { username } = new URL(address);
    await query(address, "CREATE TABLE sessions (theirs text)");
    await query(address, `CREATE SCHEMA mine AUTHORIZATION ${username}`);
    const store = await open(
      withAddress(address, (url) => url.searchParams.set("options", "-c search_path=mine")),
    );
    const { id } = await createSession(store, "a");
    await append(store, "a", id, message("x"));
    expect(await store.checkIntegrity()).toEqual([]);
    expect(await query(address, "SELECT count(*)::int AS count FROM mine.entries")).toEqual([
      { count: 1 },
    ]);
  });
});

const NEXT = 1 + (POSTGRES_MIGRATIONS.at(-1)?.version ?? 0);

describe("the schema's version", () => {
  test("is migrated once, with all rows", async () => {
    const address = await createEmptyDatabase();
    const { id } = await createSession(await open(address), "a");
    const sql = "ALTER TABLE sessions ADD COLUMN mood text; UPDATE sessions SET mood = 'calm'";
    const next = { version: NEXT, name: "mood", minReader: 18, minWriter: 18, sql };
    const pool = new PostgresPool(address, { maxQueue: 1, connectTimeoutMs: 60_000 });
    const db = await pool.take();
    for (const _ of ["once", "and nothing more"]) await migrate(db, [...POSTGRES_MIGRATIONS, next]);
    db.giveBack();
    await pool.close();
    const versions = await query(address, "SELECT version::int, name FROM schema ORDER BY 1");
    expect(versions.at(-1)).toEqual({ version: NEXT, name: "mood" });
    const store = await open(address);
    expect((await store.findSession("a", id))?.id).toBe(id);
  });

  test("a migration that waits for a long write lets other writers through", async () => {
    const address = await createEmptyDatabase();
    const store = await open(address);
    const { id } = await createSession(store, "a");
    const long = await connect(address);
    onTestFinished(() => long.end());
    await long.query("BEGIN; SELECT pg_advisory_xact_lock_shared(x'426b5363'::int)");
    const sql = "ALTER TABLE sessions ADD COLUMN mood text";
    const next = { version: NEXT, name: "mood", minReader: 18, minWriter: 18, sql };
    const pool = new PostgresPool(address, { maxQueue: 1, connectTimeoutMs: 60_000 });
    const db = await pool.take();
    const migrated = migrate(db, [...POSTGRES_MIGRATIONS, next]);
    const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND mode = 'ExclusiveLock'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await expect.poll(() => query(address, waiting), { timeout: 60_000 }).toHaveLength(1);
    // Queued behind the migration, with the long write still in progress.
    await append(store, "a", id, message("meanwhile"));
    await long.query("COMMIT");
    await migrated;
    db.giveBack();
    await pool.close();
    const versions = await query(address, "SELECT version::int FROM schema ORDER BY 1");
    expect(versions.at(-1)).toEqual({ version: NEXT });
    await append(store, "a", id, message("after it"));
  });

  test("before the first release is refused with a remedy", async () => {
    const address = await createEmptyDatabase();
    await open(address);
    await query(address, "DELETE FROM schema WHERE version > 18");
    await query(address, "UPDATE schema SET version = 17, min_reader = 11, min_writer = 16");
    for (const options of [{}, { readOnly: true }]) {
      await expectCode(open(address, options), "schema_too_old", { version: 17, supported: 18 });
    }
  });

  test("that is too new is refused, also in an open store", async () => {
    const address = await createEmptyDatabase();
    const store = await open(address);
    const { id } = await createSession(store, "a");
    const claim = "INSERT INTO schema (version, name, min_reader, min_writer, applied_at) VALUES";
    await query(address, `${claim} (98, 'compatible', 1, 1, 0)`);
    await append(store, "a", id, message("fine"));
    await query(address, `${claim} (99, 'future', 1, 99, 0)`);
    await expectCode(append(store, "a", id, message("x")), "schema_too_new", { version: 99 });
    await expectCode(open(address), "schema_too_new");
    const reader = await open(address, { readOnly: true });
    expect((await reader.findSession("a", id))?.entryCount).toBe(1);
  });

  test("does not change during a write", async () => {
    const address = await createEmptyDatabase();
    const store = await open(address);
    const { id } = await createSession(store, "a");
    const taken = async () => {
      const lock = "SELECT pg_try_advisory_lock(x'426b5363'::int) AS taken";
      const [row] = await query(address, lock);
      return row?.["taken"];
    };
    expect(await taken()).toBe(true);
    const other = await connect(address);
    await other.query("BEGIN; SELECT 1 FROM session_state FOR UPDATE");
    const waiting = append(store, "a", id, message("x"));
    await expect.poll(taken).toBe(false);
    await other.query("ROLLBACK");
    await other.end();
    await waiting;
    expect(await taken()).toBe(true);
  });
});
