/** Messages as rows of the feed, in stores that have rows of both kinds. */

import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import { open } from "../src/open.ts";
import type { RowBatch } from "../src/store/records.ts";
import { SQLITE_MIGRATIONS } from "../src/store/sqlite/migrations/index.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { createFolder } from "./support/folder.ts";

const TENANTS = ["first", "second"];

test("the feed of a store of the version before goes on without a gap", async () => {
  const folder = createFolder();
  const before = join(folder, "before.db");
  const batches = await filledStore(join(folder, "source.db"));
  writeOldStore(before, batches);
  const told = batches.filter(({ table }) => table === "changes").flatMap(({ rows }) => rows);

  await using engine = await open(before, { inThread: true });
  for (const tenant of TENANTS) {
    const session = await engine.forTenant(tenant).getSession("s");
    await session.append({ role: "user", content: "a zebra, later" });
    await session.append({ role: "assistant", content: "seen" });
  }
  const later = TENANTS.length * 2;
  expect(await engine.verify()).toMatchObject({ ok: true, changes: told.length + later });
  for (const tenant of TENANTS) {
    const { hits } = await engine.forTenant(tenant).searchSessions("zebra");
    expect(hits.map((hit) => hit.window.length)).toEqual([5]);
  }
  expect(ownRows(before)).toBe(later);
});

test("a copy of a store goes on behind the entries that it was given", async () => {
  const folder = createFolder();
  const batches = await filledStore(join(folder, "source.db"));
  const copy = join(folder, "copy.db");
  const store = await openSqliteStore(copy, {});
  await store.load(
    (async function* all() {
      yield* batches;
    })(),
  );
  await store.close();
  await using engine = await open(copy, { inThread: true });
  const session = await engine.forTenant("first").getSession("s");
  await session.append({ role: "user", content: "after the copy" });
  expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
  expect(ownRows(copy)).toBe(1);
});

test("a tenant's row that is some messages behind is told as it is", async () => {
  const folder = createFolder();
  const path = join(folder, "store.db");
  await using engine = await open(path, { inThread: true });
  const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
  for (let i = 0; i < 100; i++) await session.append({ role: "user", content: `message ${i}` });
  const written = one(path, "SELECT feed_position AS value FROM tenants");
  expect(written).toBeGreaterThan(1);
  expect(written).toBeLessThan(101);
  expect(await engine.tenantStatus()).toMatchObject({ feedPosition: 101, messages: 100 });
  await using other = await open(path, { inThread: true });
  await (await other.getSession("s")).append({ role: "user", content: "by another" });
  await session.append({ role: "user", content: "and by the first again" });
  expect(await other.tenantStatus()).toMatchObject({ feedPosition: 103, messages: 102 });
  expect(await engine.verify()).toMatchObject({ ok: true, changes: 103 });
});

/** A store with a branch, a label, a compaction's summary and a deleted session in two tenants. */
async function filledStore(path: string): Promise<readonly RowBatch[]> {
  {
    await using engine = await open(path, { inThread: true });
    for (const tenant of TENANTS) await fill(engine, tenant);
  }
  const store = await openSqliteStore(path, { inThread: true });
  const batches: RowBatch[] = [];
  for await (const batch of store.dump()) batches.push(batch);
  await store.close();
  return batches;
}

async function fill(engine: Engine, name: string): Promise<void> {
  const tenant = engine.forTenant(name);
  const session = await tenant.createSession({ id: "s", agent: "test", createdBy: "test" });
  const { id } = await session.append({ role: "user", content: `first in ${name}` });
  await session.append({ role: "assistant", content: "an answer" });
  await session.label(id, "start");
  await session.append({ role: "user", content: "a branch" }, { parent: id });
  await session.append({ role: "assistant", content: "its answer" });
  const gone = await tenant.createSession({ id: "gone", agent: "test", createdBy: "test" });
  await gone.append({ role: "user", content: "to be forgotten" });
  await gone.delete();
}

/** The rows in the schema of the version before, as that version has left them. */
function writeOldStore(path: string, batches: readonly RowBatch[]): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA application_id = ${0x426b5363}`);
  db.exec(`CREATE TABLE schema (version INTEGER PRIMARY KEY, name TEXT NOT NULL,
    min_reader INTEGER NOT NULL, min_writer INTEGER NOT NULL, applied_at INTEGER NOT NULL)`);
  db.exec("CREATE TABLE store (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
  for (const { version, name, minReader, minWriter, sql } of SQLITE_MIGRATIONS) {
    if (version > 8) break;
    db.prepare("INSERT INTO schema VALUES (?, ?, ?, ?, 0)").run(
      ...[version, name, minReader, minWriter],
    );
    db.exec(sql);
  }
  for (const { table, rows } of batches) {
    for (const row of rows) {
      const columns = Object.keys(row);
      const places = columns.map(() => "?").join(", ");
      db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`).run(
        ...(Object.values(row) as SQLInputValue[]),
      );
    }
  }
  db.close();
}

function ownRows(path: string): number {
  return one(path, "SELECT count(*) AS value FROM entries WHERE fed_hash IS NOT NULL");
}

function one(path: string, sql: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const { value } = db.prepare(sql).get() as { value: number };
  db.close();
  return value;
}
