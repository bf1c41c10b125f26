/** Messages as feed rows (SQLite), beside rows of `changes`. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import { open } from "../src/open.ts";
import type { RowBatch } from "../src/store/records.ts";
import { openSqliteStore } from "../src/store/sqlite/open-sqlite-store.ts";
import { createFolder } from "./support/folder.ts";

const TENANTS = ["first", "second"];

test("a copy of a store continues after its loaded entries", async () => {
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

test("a lagging tenant row is completed by its entries", async () => {
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

test("a call's usage is read from its message, and outlives it", async () => {
  const folder = createFolder();
  const path = join(folder, "store.db");
  await using engine = await open(path, { inThread: true });
  const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
  const usage = { inputTokens: 7, outputTokens: 3, cacheCreationTokens: 0, cacheReadTokens: 0 };
  await session.append({ role: "user", content: "a question" });
  await session.append([
    { role: "assistant", content: "measured", model: "m", usage, contextWindow: 100 },
    { role: "user", content: "another" },
    { role: "assistant", content: "not measured", model: "m" },
  ]);
  const told = ["entry_appended", "entry_appended", "context_usage", "entry_appended"];
  const kinds = ["session_created", ...told, "entry_appended", "context_usage"];
  const feed = async () => (await engine.listChanges({ limit: 100 })).changes;
  const before = await feed();
  expect(before.map(({ kind }) => kind)).toEqual(kinds);
  expect(before[3]?.details).toMatchObject({ contextTokens: 10, contextWindow: 100 });
  expect(one(path, "SELECT count(*) AS value FROM changes")).toBe(1);
  expect(one(path, "SELECT count(*) AS value FROM feed")).toBe(kinds.length);
  for (const [i, { cursor }] of before.entries()) {
    const page = await engine.listChanges({ after: cursor, limit: 1 });
    expect(page.changes).toEqual(before.slice(i + 1, i + 2));
  }
  expect(await engine.verify()).toMatchObject({ ok: true, changes: kinds.length });

  await session.delete();
  expect((await feed()).slice(0, kinds.length)).toEqual(before);
  expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
});

test("tenants above number 8,000 have a feed, too", async () => {
  const path = join(createFolder(), "store.db");
  {
    await using engine = await open(path, { inThread: true });
    await engine.createSession({ agent: "test", createdBy: "test" });
  }
  const db = new DatabaseSync(path);
  db.exec(`INSERT INTO tenants (tenant, name, created_at, feed_hash, first_entry)
    VALUES (8192, 'many', 1, zeroblob(32), 8191 * 4294967296)`);
  db.close();
  await using engine = await open(path, { inThread: true });
  for (const name of ["many", "one-more", "and-another"]) {
    const tenant = engine.forTenant(name);
    const session = await tenant.createSession({ agent: "test", createdBy: "test" });
    for (let i = 0; i < 3; i++) await session.append({ role: "user", content: `message ${i}` });
    expect((await tenant.listChanges({ limit: 100 })).changes).toHaveLength(4);
  }
  expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
});

test("a store without a free tenant number reports it", async () => {
  const path = join(createFolder(), "store.db");
  {
    await using engine = await open(path, { inThread: true });
    await engine.createSession({ agent: "test", createdBy: "test" });
  }
  const db = new DatabaseSync(path);
  db.exec("UPDATE tenants SET first_entry = 9007199254740992 - 4294967296");
  db.close();
  await using engine = await open(path, { inThread: true });
  const created = engine.forTenant("late").createSession({ agent: "test", createdBy: "test" });
  await expect(created).rejects.toMatchObject({ code: "quota_exceeded" });
  expect(one(path, "SELECT count(*) AS value FROM tenants")).toBe(1);
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

function ownRows(path: string): number {
  return one(path, "SELECT count(*) AS value FROM entries WHERE fed_hash IS NOT NULL");
}

function one(path: string, sql: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const { value } = db.prepare(sql).get() as { value: number };
  db.close();
  return value;
}
