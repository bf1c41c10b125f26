import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, query } from "../../../test/support/postgres.ts";
import { type PostgresProxy, startProxy } from "../../../test/support/postgres-proxy.ts";
import {
  append,
  changesOf,
  createSession,
  expectCode,
  message,
  nextId,
  T0,
} from "../cases/fixture.cases.ts";
import { answerTo, sessionNumbers } from "../cases/index-fixture.cases.ts";
import { newRoute } from "../cases/routes.cases.ts";
import { newToken } from "../cases/tokens.cases.ts";
import { TRIVIAL_INDEX } from "../cases/trivial-index.cases.ts";
import type { Store } from "../store.ts";
import { openPostgresStore } from "./open-postgres-store.ts";

let address: string;
/** Counts every round trip of `store`, and can cut its connections. */
let proxy: PostgresProxy;
let store: Store;

beforeAll(async () => {
  address = await createDatabase();
  proxy = await startProxy(address);
  store = await openPostgresStore(proxy.address);
});

afterAll(async () => {
  await store.close();
  await proxy[Symbol.asyncDispose]();
});

/** The bursts that the transaction of `action` sends until its caller has the result. */
async function burstsOf(action: () => Promise<unknown>): Promise<string[]> {
  const before = proxy.bursts.length;
  await action();
  const bursts = proxy.bursts.slice(before);
  // Notifications of earlier writes use other connections meanwhile.
  const begin = bursts.findIndex(({ text }) => text.includes("BEGIN"));
  const { connection } = bursts[begin] ?? {};
  return bursts
    .slice(begin)
    .filter((burst) => burst.connection === connection)
    .map(({ text }) => text);
}

test("an append takes two round trips, whatever its content", async () => {
  const { id } = await createSession(store, "a");
  const { ids } = await append(store, "a", id, message("first"));
  const usage = { inputTokens: 1, outputTokens: 1, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const rich = {
    sessionId: id,
    entries: [
      message("plain", { parentId: ids[0] ?? "", supersedes: ids[0] ?? "", usage }),
      message("large ".repeat(4_000), { actor: "new" }),
      ...Array.from({ length: 50 }, (_, i) => message(`${i}`)),
    ],
    summary: { text: "sum", through: ids[0] ?? "" },
    idempotency: { key: "k", requestHash: "00".repeat(32) },
    now: T0,
  };
  const plain = () => append(store, "a", id, message("x"));
  expect(await burstsOf(plain)).toHaveLength(2);
  expect(await burstsOf(() => store.append("a", rich))).toHaveLength(2);
  expect((await store.findSession("a", id))?.entryCount).toBe(54);
});

test("the feed, on whose lock all writers contend, is written right before COMMIT, without NOTIFY", async () => {
  const { id } = await createSession(store, "a");
  const [first, second] = await burstsOf(() => append(store, "a", id, message("x")));
  expect(first).toMatch(/BEGIN.*FOR UPDATE OF t/s);
  expect(first).not.toContain("INSERT");
  expect(second).toMatch(/append\.insertEntries.*append\.moveState.*feed\.writeFeed.*COMMIT\0$/s);
  const tail = second?.slice(second.lastIndexOf("feed.writeFeed")) ?? "";
  expect(tail).not.toMatch(/append\.|participants\.|idempotency\.|blobs\.|notify/);
  expect(`${first}${second}`).not.toContain("notify");
});

test("other writes and reads take a bounded number of round trips", async () => {
  const { id } = await createSession(store, "a");
  const { ids } = await append(store, "a", id, message("1"), message("x".repeat(9_999)));
  const stream = { sessionId: id, id: nextId(), holder: "me", leaseMs: 9_999, now: T0 };
  const who = { role: "user", actor: null, metadata: null, model: null, adapter: null } as const;
  const ending = { usage: null, model: null, adapter: null, metadata: null };
  const page = { select: "messages", sessionId: id, offset: 0, limit: 9 } as const;
  const counts: [number, () => Promise<unknown>][] = [
    [2, () => createSession(store, "a")],
    [2, () => store.updateSession("a", id, { title: "x" }, T0)],
    [2, () => store.openStream("a", { ...stream, ...who })],
    [2, () => store.writeStream("a", { ...stream, chunks: '["x"]' })],
    [2, () => store.commitStream("a", { ...stream, ...ending, chunks: null })],
    [2, () => store.moveLeaf("a", { sessionId: id, leaf: ids[0] ?? "", now: T0 })],
    [1, () => store.findSession("a", id)],
    [2, () => store.readEntries("a", { ...page, payloads: false })],
    [3, () => store.readEntries("a", { ...page, leaf: ids[1] ?? "", payloads: true })],
    [1, () => store.listChanges("a", 0, 10, id)],
    [1, () => store.findToken(nextId())],
    [2, () => store.takeLease("job", "me", 1)],
    [1, () => store.findRoute("a", "key")],
    [3, () => store.putRoute("a", newRoute({ key: "key" }))],
    [2, () => store.patchRoute("a", { key: "key", fields: { a: 1 }, now: T0 })],
    [3, () => store.deleteSession("a", id, "user", T0)],
  ];
  for (const [expected, call] of counts) {
    expect([String(call), (await burstsOf(call)).length]).toEqual([String(call), expected]);
  }
});

test("a window takes one round trip, and three if the session has branched", async () => {
  const indexing = { module: TRIVIAL_INDEX, flushAt: 0 };
  const indexed = await openPostgresStore(proxy.address, { indexing });
  onTestFinished(() => indexed.close());
  const { id } = await createSession(indexed, "w");
  const { ids } = await append(indexed, "w", id, message("1"), message("2"), message("3"));
  const session = (await sessionNumbers(indexed, "w")).get(id) ?? 0;
  const read = async () => {
    const windows = [{ session, sequence: 2, before: 1, after: 1 }];
    const [window] = await answerTo(indexed, "w", { need: "windows", windows });
    return window?.entries.map(({ sequence }) => sequence);
  };
  expect(await burstsOf(read)).toHaveLength(1);
  expect(await read()).toEqual([1, 2, 3]);
  await append(indexed, "w", id, message("instead of 3", { parentId: ids[1] ?? "" }));
  expect(await burstsOf(read)).toHaveLength(3);
  expect(await read()).toEqual([1, 2, 4]);
  await indexed.moveLeaf("w", { sessionId: id, leaf: ids[1] ?? "", now: T0 });
  expect(await read()).toEqual([1, 2]);
});

test("a write whose connection breaks before COMMIT is retried on another", async () => {
  const { id } = await createSession(store, "a");
  proxy.cutAfter("session_state.lock");
  expect(await append(store, "a", id, message("once"))).toMatchObject({ replayed: false });
  expect(await changesOf(store, "a", id)).toHaveLength(2);
});

test("tokens and leases survive a dead connection", async () => {
  const { id } = await store.createToken("a", newToken());
  proxy.cutAfter("tokens.find");
  expect((await store.findToken(id))?.token.id).toBe(id);
  proxy.cutAfter("leases.take");
  expect(await store.takeLease("another job", "me", 60_000)).toBe(true);
  expect(await store.takeLease("another job", "you", 60_000)).toBe(false);
});

test("a connection that breaks at COMMIT is reported, and the write can be retried under its idempotency key", async () => {
  const { id } = await createSession(store, "a");
  const idempotency = { key: "k", requestHash: "00".repeat(32) };
  const request = { sessionId: id, entries: [message("once")], now: T0, idempotency };
  proxy.cutAfter("feed.writeFeed");
  await expectCode(store.append("a", request), "store_unavailable", {
    address: expect.not.stringContaining("password"),
  });
  expect(await store.append("a", request)).toMatchObject({ replayed: true });
  expect(await changesOf(store, "a", id)).toHaveLength(2);
});

test("a lost listener reconnects", async () => {
  const other = await openPostgresStore(address);
  onTestFinished(() => other.close());
  let told = 0;
  const end = store.onChange(() => told++);
  const listeners = async () => {
    const rows = await query(
      address,
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    );
    return rows.map((row) => row["pid"]);
  };
  await expect.poll(listeners).toHaveLength(1);
  const [lost] = await listeners();
  proxy.cut();
  await expect.poll(listeners).toEqual([expect.not.toSatisfy((pid) => pid === lost)]);
  const before = told;
  await createSession(other, "a");
  await expect.poll(() => told).toBeGreaterThan(before);
  end();
  await expect.poll(listeners).toEqual([]);
});
