import { expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../src/engine/engine.ts";
import { open, textOf } from "../../src/index.ts";
import { BackscrollError } from "../../src/model/errors.ts";
import type { StoreLoss } from "../../src/model/store-loss.ts";
import { startFleet } from "../support/fleet.ts";
import { startProxy } from "../support/postgres-proxy.ts";
import { allPositions, follow, readBack, startWriters } from "./writers.ts";

test("with synchronous replication a failover loses and repeats no write", async () => {
  await using fleet = await startFleet({ synchronous: true });
  const nodes = await Promise.all([0, 1, 2].map(() => open(fleet.both, { leaseMs: 60_000 })));
  onTestFinished(() => closeAll(nodes));
  const [first] = nodes as [Engine, Engine, Engine];
  const { id } = await first.createSession({ agent: "coder", createdBy: "ana" });

  const feed = follow(nodes[2] as Engine);
  const writers = startWriters(nodes, id);
  const { acknowledged, failures } = writers;
  await expect.poll(() => acknowledged.length).toBeGreaterThan(100);
  const open1 = await first.session(id).openMessage({ role: "assistant", actor: "coder" });
  await open1.write("half of ");
  await open1.flush();
  await fleet.kill(0);
  await fleet.promote(1);
  const before = acknowledged.length;
  // An open message continues: its chunks and its lease are replicated rows.
  await open1.write("an answer");
  const answer = await open1.commit();
  await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 100);
  await writers.stop();

  const { stored, report } = await readBack(first, id);
  const lost = acknowledged.filter((text) => !stored.includes(text));
  expect(lost).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
  expect(stored).toContain("half of an answer");
  expect(answer.sequence).toBeGreaterThan(0);
  expect(report.ok).toBe(true);
  expect((await first.status()).losses).toEqual([]);
  for (const failure of failures)
    expect(BackscrollError.is(failure, "store_unavailable")).toBe(true);

  const { changes, head } = await allPositions(first);
  await expect.poll(() => feed.heard.length).toBe(head);
  await feed.stop();
  expect(feed.heard).toEqual(changes);

  // Fencing: the old primary restarts, and no node writes there.
  const hasty = await open(fleet.both, { busyTimeoutMs: 200 });
  onTestFinished(() => hasty.close());
  await fleet.start(0);
  await first.session(id).append({ role: "user", actor: "ana", content: "after its return" });
  const [row] = await fleet.query(0, "SELECT count(*)::int AS n FROM changes");
  expect(row?.["n"]).toBeLessThan(head);
  await fleet.stop(1);
  // A server that takes more than a second to answer is not in the error.
  const refused = () =>
    hasty
      .session(id)
      .append({ role: "user", actor: "ana", content: "no" })
      .catch((error: unknown) => error);
  await expect.poll(refused).toMatchObject({
    code: "store_unavailable",
    details: { timeline: 1, seenTimeline: 2 },
  });
  const [after] = await fleet.query(0, "SELECT count(*)::int AS n FROM changes");
  expect(after).toEqual(row);
  await fleet.start(1);
  await first.session(id).append({ role: "user", actor: "ana", content: "on the new primary" });
});

test("without it the loss is reported, and consumers that were ahead get cursor_expired", async () => {
  await using fleet = await startFleet();
  const losses: StoreLoss[] = [];
  const node = await open(fleet.both, { onLoss: (loss) => losses.push(loss) });
  onTestFinished(() => node.close());
  const { id } = await node.createSession({ agent: "coder", createdBy: "ana" });
  const say = (content: string) => node.session(id).append({ role: "user", actor: "ana", content });
  await say("kept");
  const { next: kept } = await node.listChanges({ after: "end" });
  await expect
    .poll(async () => (await fleet.query(1, "SELECT count(*)::int AS n FROM changes"))[0]?.["n"])
    .toBe((await allPositions(node)).head);
  // The standby is disconnected.
  await fleet.query(1, "ALTER SYSTEM SET primary_conninfo = ''");
  await fleet.query(1, "SELECT pg_reload_conf()");
  await expect
    .poll(() => fleet.query(0, "SELECT count(*)::int AS n FROM pg_stat_replication"))
    .toEqual([{ n: 0 }]);
  const feed = node.subscribe({ after: kept });
  await say("lost 1");
  await say("lost 2");
  const ahead = [await feed.next(), await feed.next()];
  const cursor = ahead[1]?.value?.cursor ?? "";
  // A lost tenant, whose number another tenant reuses.
  await node.forTenant("lost").createSession({ agent: "coder", createdBy: "ana" });
  await fleet.kill(0);
  await fleet.promote(1);
  const other = await node.forTenant("other").createSession({ agent: "coder", createdBy: "ana" });
  expect((await node.forTenant("lost").listSessions()).sessions).toEqual([]);
  expect((await node.forTenant("other").listSessions()).sessions).toMatchObject([{ id: other.id }]);
  const history = await node.session(id).history();
  expect(history.map(({ blocks }) => textOf(blocks))).toEqual(["kept"]);
  expect(losses).toMatchObject([
    { kind: "failover", tenant: "default", changes: 2 },
    { kind: "failover", tenant: "lost" },
  ]);
  expect((await node.status()).losses).toEqual(losses);
  await expect(node.listChanges({ after: cursor })).rejects.toMatchObject({
    code: "cursor_expired",
  });
  // The same for an active subscription, also once the new feed is longer.
  for (let i = 0; i < 5; i++) await say(`new ${i}`);
  await expect(feed.next()).rejects.toMatchObject({ code: "cursor_expired" });
  const { changes } = await node.listChanges({ after: kept });
  expect(changes).toHaveLength(5);
  expect(await node.acceptLosses()).toHaveLength(2);
  expect((await node.status()).losses).toEqual([]);
});

test("a primary that stops answering without closing connections is abandoned", async () => {
  await using fleet = await startFleet();
  const proxies = await Promise.all([0, 1].map((server) => startProxy(fleet.address(server))));
  const address = fleet.address(0);
  const ports = proxies.map((proxy) => `127.0.0.1:${new URL(proxy.address).port}`);
  const node = await open(address.replace(/@[^/]*/, `@${ports.join(",")}`));
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
    await node.close();
  });
  const session = await node.createSession({ agent: "coder", createdBy: "ana" });
  await session.append({ role: "user", actor: "ana", content: "before" });
  await expect
    .poll(async () => (await fleet.query(1, "SELECT count(*)::int AS n FROM changes"))[0]?.["n"])
    .toBe((await allPositions(node)).head);
  proxies[0]?.freeze();
  await fleet.promote(1);
  const entry = await session.append({ role: "user", actor: "ana", content: "after" });
  expect(await fleet.query(1, `SELECT 1 AS one FROM entries WHERE id = '${entry.id}'`)).toEqual([
    { one: 1 },
  ]);
  expect((await node.status()).losses).toEqual([]);
});

async function closeAll(engines: readonly Engine[]): Promise<void> {
  await Promise.all(engines.map((engine) => engine.close()));
}
