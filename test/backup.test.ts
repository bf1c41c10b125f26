/** Backups of a store beside writers, and restores. */

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { backup, type Engine, type Entry, open, restore, textOf } from "../src/index.ts";
import type { AppendWork } from "./support/append-worker.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", () => Promise.resolve(join(createFolder(), "store.db"))],
  ["PostgreSQL", createDatabase],
];

/** Fills two tenants with every kind of row. */
async function fill(engine: Engine): Promise<void> {
  const session = await engine.createSession({
    id: "s",
    agent: "test",
    createdBy: "ann",
    title: "Žluťoučký kůň 😀",
    metadata: { deep: [{ a: null }] },
    origin: { source: "cli", key: "k-1", projectId: "p" },
  });
  const first = await session.append({
    role: "user",
    actor: "ann",
    content: [{ type: "text", text: "odd \0 text \ud800 with halves" }],
    metadata: { n: 1 },
  });
  const large = "a large payload ".repeat(2_000);
  await session.append({
    role: "assistant",
    content: large,
    usage: { inputTokens: 10, outputTokens: 5 },
    model: "model-1",
  });
  await session.append({ role: "user", content: "branch" }, { parent: first.id });
  await session.edit(first.id, large);
  await session.label(first.id, "start");
  await session.pin(first.id);
  const aborted = await session.openMessage({ role: "assistant" });
  await aborted.write("half");
  await aborted.abort();
  const pending = await session.openMessage({ role: "assistant", idempotencyKey: "open" });
  await pending.write("not yet");
  await pending.flush();
  await session.fork({ id: "fork", createdBy: "ann" });
  await session.addFacts([{ subject: "a", predicate: "is", object: "b", sourceEntry: first.id }]);
  await engine.putMemory({ agent: "test", name: "note", content: "keep \0 me" });
  const gone = await engine.createSession({ id: "gone", agent: "test", createdBy: "ann" });
  await gone.append({ role: "user", content: "forgotten" });
  await gone.delete();
  const other = engine.forTenant("other");
  await other.setQuota({ maxSessions: 7 });
  await other.createSession({ id: "s", agent: "theirs", createdBy: "bob" });
}

/** Everything visible of a store through the library, except feed cursors. */
async function everything(engine: Engine): Promise<unknown> {
  const tenants = await engine.listTenants();
  const all: unknown[] = [];
  for (const name of tenants) {
    const tenant = engine.forTenant(name);
    const { sessions } = await tenant.listSessions({ limit: 500 });
    for (const meta of sessions) {
      const session = await tenant.getSession(meta.id);
      const { entries } = await session.listEntries({ tree: true, limit: 500 });
      const labels = [...(await session.labels())];
      all.push({ meta, entries, labels, history: (await session.history()).map(shown) });
    }
    const { changes } = await tenant.listChanges({ limit: 500 });
    all.push({
      memories: await tenant.listMemories(),
      facts: await tenant.listFacts({ superseded: true }),
      tombstone: (await tenant.findTombstone("gone")) ?? null,
      changes: changes.map(({ cursor: _, ...change }) => change),
      status: await tenant.tenantStatus(),
    });
  }
  return all;
}

function shown(entry: Entry): string {
  return `${entry.role}: ${textOf(entry.blocks)}`;
}

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  test("a backup beside a writer is a snapshot", async () => {
    const address = await newAddress();
    await using engine = await open(address);
    await engine.createSession({ id: "a", agent: "test", createdBy: "test" });
    await engine.createSession({ id: "b", agent: "test", createdBy: "test" });
    const writer = new Child("./append-worker.ts");
    const work = { address, name: "w", sessions: ["a", "b"], count: 1e6, atOnce: 2 };
    writer.tell(work satisfies AppendWork);
    for (const id of ["a", "b"]) await grown(engine, id, 20);
    const file = join(createFolder(), "backup.db");
    const report = await backup(address, file);
    expect(report.rows).toBeGreaterThan(40);
    // The backup does not block the writer.
    for (const id of ["a", "b"]) {
      await grown(engine, id, (await engine.getSessionMeta(id)).messageCount + 1);
    }
    await writer.kill();

    await using copy = await open(file, { inThread: true, readOnly: true });
    expect((await copy.verify()).problems).toEqual([]);
    for (const id of ["a", "b"]) {
      const kept = await texts(copy, id);
      expect(kept.length).toBeGreaterThanOrEqual(20);
      const all = await texts(engine, id);
      expect(all.length).toBeGreaterThan(kept.length);
      expect(kept).toEqual(all.slice(0, kept.length));
    }
    expect(readdirSync(dirname(file)).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("a restored store is equal, except for its feed cursors", async () => {
    const address = await newAddress();
    await using engine = await open(address, { inThread: true });
    await fill(engine);
    const before = await everything(engine);
    const { next: cursor } = await engine.listChanges();
    const file = join(createFolder(), "backup.db");
    await backup(address, file);

    const target = await newAddress();
    const seen: number[] = [];
    await restore(file, target, { onProgress: (rows) => seen.push(rows) });
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    await using restored = await open(target, { inThread: true });
    expect(await everything(restored)).toEqual(before);
    expect((await restored.verify()).problems).toEqual([]);
    expect(await restored.checkIntegrity()).toEqual([]);
    await expect(restored.listChanges({ after: cursor })).rejects.toMatchObject({
      code: "cursor_expired",
    });

    // The copy continues: the open message, idempotency keys, sequences.
    const session = await restored.getSession("s");
    const message = await session.openMessage({ role: "assistant", idempotencyKey: "open" });
    await message.write(" — now");
    expect(textOf((await message.commit()).blocks)).toBe("not yet — now");
    const fresh = await restored.createSession({ agent: "test", createdBy: "test" });
    await fresh.append({ role: "user", content: "new" });
    expect((await restored.verify()).problems).toEqual([]);
  });

  test("a restore refuses a non-empty store, without effect", async () => {
    const source = await newAddress();
    {
      await using engine = await open(source, { inThread: true });
      await fill(engine);
    }
    const file = join(createFolder(), "backup.db");
    await backup(source, file);
    const target = await newAddress();
    await using engine = await open(target, { inThread: true });
    await engine.createSession({ id: "mine", agent: "test", createdBy: "test" });
    const before = await everything(engine);
    await expect(restore(file, target)).rejects.toMatchObject({ code: "store_not_empty" });
    expect(await everything(engine)).toEqual(before);
    await expect(backup(target, file)).rejects.toMatchObject({ code: "store_not_empty" });
  });
});

test("a store moves to PostgreSQL and back unchanged", async () => {
  const folder = createFolder();
  const original = join(folder, "original.db");
  await using engine = await open(original, { inThread: true });
  await fill(engine);
  const before = await everything(engine);
  const first = join(folder, "first.db");
  await backup(original, first);
  const server = await createDatabase();
  await restore(first, server);
  await using onServer = await open(server, { inThread: true });
  expect(await everything(onServer)).toEqual(before);
  expect((await onServer.verify()).problems).toEqual([]);
  const second = join(folder, "second.db");
  await backup(server, second);
  await using back = await open(second, { inThread: true });
  expect(await everything(back)).toEqual(before);
  expect((await back.verify()).problems).toEqual([]);
});

test("a backup of a missing or foreign file leaves nothing behind", async () => {
  const folder = createFolder();
  const target = join(folder, "backup.db");
  const missing = backup(join(folder, "none.db"), target);
  await expect(missing).rejects.toMatchObject({ code: "store_not_found" });
  const wrong = restore(import.meta.filename, target);
  await expect(wrong).rejects.toMatchObject({ code: "store_corrupt" });
  expect(existsSync(target)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

async function texts(engine: Engine, id: string): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const { messages } = await engine.listMessages(id, { offset: found.length, limit: 500 });
    if (messages.length === 0) return found;
    found.push(...messages.map((message) => textOf(message.blocks)));
  }
}

/** Resolves once the session has at least `count` messages. */
async function grown(engine: Engine, id: string, count: number): Promise<void> {
  while ((await engine.getSessionMeta(id)).messageCount < count) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
