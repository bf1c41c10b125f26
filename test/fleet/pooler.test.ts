/** The database is away behind a pooler, which answers in its place. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pause } from "../../src/async/pause.ts";
import { open } from "../../src/index.ts";
import { LEASE_MS } from "../../src/model/lease.ts";
import { keepUp } from "../../src/server/maintenance.ts";
import { type ServerNode, startNode } from "../server/node.ts";
import { writeTurn } from "../support/claude-transcript.ts";
import { environmentOf, ROOT } from "../support/cli.ts";
import { createFolder } from "../support/folder.ts";
import { createDatabase, query } from "../support/postgres.ts";
import { type PostgresProxy, startProxy } from "../support/postgres-proxy.ts";
import { allPositions, follow } from "./writers.ts";

async function startPooler(): Promise<PostgresProxy> {
  const pooler = await startProxy(await createDatabase());
  onTestFinished(() => pooler[Symbol.asyncDispose]());
  return pooler;
}

test("calls fail with store_unavailable, and a subscription hears each change once after it", async () => {
  const pooler = await startPooler();
  const engine = await open(pooler.address);
  onTestFinished(() => engine.close());
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const say = (content: string) => session.append({ role: "user", actor: "ana", content });
  const feed = follow(engine);
  await say("before");
  await expect.poll(() => feed.heard.length).toBe(2);

  for (let outage = 0; outage < 2; outage++) {
    const refused = pooler.refused;
    pooler.leave();
    const calls = [
      () => say("lost"),
      () => session.history(),
      () => engine.listSessions(),
      () => engine.searchSessions("before"),
      () => engine.status(),
      () => engine.createSession({ agent: "coder", createdBy: "ana" }),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({
        name: "BackscrollError",
        code: "store_unavailable",
        details: { sqlstate: "08P01" },
      });
    }
    // The subscription asks as well.
    const asked = pooler.refused;
    expect(asked).toBeGreaterThan(refused);
    await expect.poll(() => pooler.refused).toBeGreaterThan(asked);
    pooler.comeBack();
    // A connection that was asked for before may still be refused.
    await expect
      .poll(() => say(`after ${outage}`).then(() => "stored", String), { timeout: 30_000 })
      .toBe("stored");
  }

  const { changes, head } = await allPositions(engine);
  await expect.poll(() => feed.heard.length).toBe(head);
  await feed.stop();
  expect(feed.heard).toEqual(changes);
});

test("maintenance goes on after it, and tells of it once", async () => {
  const pooler = await startPooler();
  let ahead = 0;
  const source = { now: () => Date.now() + ahead, random: crypto.getRandomValues.bind(crypto) };
  const engine = await open(pooler.address, { source });
  onTestFinished(() => engine.close());
  const told: unknown[] = [];
  const stop = new AbortController();
  const maintaining = keepUp(engine, {
    signal: stop.signal,
    everyMs: 20,
    leaseMs: 300,
    onError: (error) => told.push(error),
  });
  const expectSweep = async () => {
    await engine.createSession({ agent: "coder", createdBy: "ana", ttl: 60 });
    ahead += 61_000;
    await expect.poll(async () => (await engine.listSessions()).sessions).toEqual([]);
  };
  await expectSweep();

  pooler.leave();
  // Sweeps fail, and renewals of the lease until it is lost.
  await expect.poll(() => pooler.refused).toBeGreaterThan(15);
  expect(told).toMatchObject([{ code: "store_unavailable" }]);
  pooler.comeBack();
  await expectSweep();

  stop.abort();
  await maintaining;
  expect(told).toHaveLength(1);
});

/** The status of a request, and what a client decides by. */
async function ask({ url }: ServerNode) {
  const response = await fetch(`${url}/v1/sessions`);
  const { code } = (await response.json()) as { code?: string };
  return {
    status: response.status,
    type: response.headers.get("content-type")?.split(";")[0],
    code,
    retryAfter: response.headers.get("retry-after"),
  };
}

/** When the lease ends that a server holds to do the maintenance, by the clock of this machine. */
async function endOfLease(address: string): Promise<number> {
  const sql = "SELECT expires_at FROM leases WHERE name = 'maintenance'";
  const held = async () => Number((await query(address, sql))[0]?.["expires_at"] ?? 0);
  await expect.poll(held).toBeGreaterThan(0);
  return held();
}

test("a server answers 503 meanwhile and 200 after it, and its process lives", async () => {
  const pooler = await startPooler();
  const home = createFolder();
  writeTurn(home, { id: "s-1", cwd: home, text: "before" });
  const node = await startNode(["--watch", "--db", pooler.address], { HOME: home });
  onTestFinished(async () => void (await node.stop("SIGKILL")));
  expect(await ask(node)).toMatchObject({ status: 200 });
  const renewedAt = (await endOfLease(pooler.address)) - (LEASE_MS * 2) / 3;

  pooler.leave();
  expect(await ask(node)).toEqual({
    status: 503,
    type: "application/problem+json",
    code: "store_unavailable",
    retryAfter: "1",
  });
  expect((await fetch(`${node.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${node.url}/readyz`)).status).toBe(503);
  writeTurn(home, { id: "s-1", cwd: home, text: "meanwhile", turn: 2 });
  // Nobody calls now: the server itself renews its leases.
  await pause(renewedAt - 500 - Date.now());
  const before = pooler.refused;
  await expect.poll(() => pooler.refused).toBeGreaterThan(before);

  pooler.comeBack();
  expect(await ask(node)).toMatchObject({ status: 200 });
  const stored = "SELECT message_count FROM session_state";
  await expect.poll(() => query(pooler.address, stored)).toEqual([{ message_count: "2" }]);
  expect(node.child.exitCode).toBeNull();
  expect(await node.stop()).toBe(0);
});

test("a command that follows transcripts waits for its end, and tells of it once", async () => {
  const pooler = await startPooler();
  const home = createFolder();
  writeTurn(home, { id: "s-1", cwd: home, text: "before" });
  const words = [join(ROOT, "bin/backscroll.js"), "watch", "--db", pooler.address];
  const child = spawn(process.execPath, words, { env: environmentOf({ HOME: home }) });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text) => (stdout += text));
  child.stderr.on("data", (text) => (stderr += text));
  await expect.poll(() => stdout).toContain("Watching");

  pooler.leave();
  writeTurn(home, { id: "s-1", cwd: home, text: "meanwhile", turn: 2 });
  await expect.poll(() => stderr).toContain("Waiting until the store can be used again");
  pooler.comeBack();
  const stored = "SELECT message_count FROM session_state";
  await expect.poll(() => query(pooler.address, stored)).toEqual([{ message_count: "2" }]);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
