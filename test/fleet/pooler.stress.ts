/** A real PgBouncer, whose database goes away and comes back twenty times under load. */

import { expect, onTestFinished, test } from "vitest";
import { pause } from "../../src/async/pause.ts";
import { connect } from "../../src/client/index.ts";
import { open } from "../../src/index.ts";
import type { BackscrollError } from "../../src/model/errors.ts";
import { startNode } from "../server/node.ts";
import { startFleet } from "../support/fleet.ts";
import { findPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { allPositions, follow, readBack, startWriters } from "./writers.ts";

/** How long the database is away, in seconds. */
const OUTAGES = [1, 1, 10, 1, 1, 60, 1, 10, 1, 1, 10, 1, 10, 1, 60, 1, 10, 1, 10, 1];
/** The longest wait of a request: that of a node for its first answer, and some time for itself. */
const ANSWERED_WITHIN_MS = 10_000;
/** After the return of the database: PgBouncer asks it once a second, and it recovers first. */
const BACK_WITHIN_MS = 15_000;

const program = findPgbouncer();
if (program === undefined) {
  process.stderr.write(
    "Skipped: the stress behind PgBouncer, because there is no pgbouncer on the PATH\n",
  );
}

/** Asks the server until told to stop, and notes what it answers. */
function startCaller(url: string) {
  const seen: { status: number; code: unknown; retryAfter: string | null; ms: number }[] = [];
  const stop = new AbortController();
  const asking = (async () => {
    while (!stop.signal.aborted) {
      const asked = performance.now();
      const response = await fetch(`${url}/v1/sessions`);
      const { code } = (await response.json()) as { code?: string };
      const retryAfter = response.headers.get("retry-after");
      seen.push({ status: response.status, code, retryAfter, ms: performance.now() - asked });
      await pause(50, stop.signal);
    }
  })();
  return {
    seen,
    stop: async () => {
      stop.abort();
      await asking;
    },
  };
}

const testBehindPgbouncer = test.skipIf(program === undefined);

testBehindPgbouncer(
  "behind PgBouncer twenty outages lose no write, end no server, and repeat no change",
  async () => {
    await using fleet = await startFleet();
    await using pooler = await startPgbouncer(program as string, fleet.address(0));
    const engine = await open(pooler.address);
    onTestFinished(() => engine.close());
    const node = await startNode(["--db", pooler.address]);
    onTestFinished(async () => void (await node.stop("SIGKILL")));
    const remote = await connect(node.url);
    onTestFinished(() => remote.close());
    const { id } = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const feeds = [follow(engine), follow(remote)];
    const writers = startWriters([engine, remote], id);
    const caller = startCaller(node.url);
    const back: number[] = [];
    for (const [round, seconds] of OUTAGES.entries()) {
      const written = writers.acknowledged.length;
      await expect.poll(() => writers.acknowledged.length).toBeGreaterThan(written + 200);
      const asked = caller.seen.length;
      await (round % 2 === 0 ? fleet.kill(0) : fleet.stop(0));
      await pause(seconds * 1_000);
      // A request that waits for the pooler may outlast a short outage.
      const refused = caller.seen.slice(asked).filter(({ status }) => status === 503);
      if (seconds >= 10) expect(refused.length).toBeGreaterThan(0);
      await fleet.start(0);
      const started = performance.now();
      const [acknowledged, answered] = [writers.acknowledged.length, caller.seen.length];
      await expect
        .poll(() => caller.seen.slice(answered).some(({ status }) => status === 200), {
          interval: 5,
        })
        .toBe(true);
      await expect
        .poll(() => writers.acknowledged.length, { interval: 5 })
        .toBeGreaterThan(acknowledged + 4);
      back.push(performance.now() - started);
      expect(node.child.exitCode).toBeNull();
      process.stdout.write(
        `${round + 1}: away for ${seconds} s, ${refused.length} × 503, back after ${Math.round(back.at(-1) ?? 0)} ms\n`,
      );
    }
    await writers.stop();
    await caller.stop();
    const { stored, report } = await readBack(engine, id);
    const { changes, head } = await allPositions(engine);
    for (const { heard } of feeds) await expect.poll(() => heard.length).toBe(head);
    for (const feed of feeds) await feed.stop();
    const known = new Set(stored);
    const lost = writers.acknowledged.filter((text) => !known.has(text)).length;
    const double = stored.length - known.size;
    const statuses = Object.groupBy(caller.seen, ({ status }) => String(status));
    const slowest = Math.round(Math.max(...caller.seen.map(({ ms }) => ms)));
    const counts = Object.entries(statuses).map(([status, seen]) => `${seen?.length} × ${status}`);
    process.stdout.write(
      `${writers.acknowledged.length} acknowledged, ${lost} lost, ${double} double, ${writers.failures.length} repeated; ${counts.join(", ")}, slowest ${slowest} ms; back after ${Math.round(Math.max(...back))} ms at most; ${head} changes heard by ${feeds.length} followers\n`,
    );
    expect({ lost, double, ok: report.ok }).toEqual({ lost: 0, double: 0, ok: true });
    for (const { heard } of feeds) expect(heard).toEqual(changes);
    const kinds = new Set(caller.seen.map(({ status, code }) => `${status} ${code ?? ""}`.trim()));
    expect([...kinds].filter((kind) => !EXPECTED.includes(kind))).toEqual([]);
    for (const { status, retryAfter } of caller.seen) {
      expect(retryAfter === null).toBe(status === 200);
    }
    for (const failure of writers.failures) {
      expect(["store_unavailable", "store_busy"]).toContain((failure as BackscrollError).code);
    }
    expect(slowest).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(Math.max(...back)).toBeLessThan(BACK_WITHIN_MS);
    expect(await node.stop()).toBe(0);
  },
);

const EXPECTED = ["200", "503 store_unavailable", "503 store_busy"];

testBehindPgbouncer("a failover behind PgBouncer loses and repeats no write", async () => {
  await using fleet = await startFleet({ synchronous: true });
  await using pooler = await startPgbouncer(program as string, fleet.address(0));
  const engine = await open(pooler.address);
  onTestFinished(() => engine.close());
  const { id } = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const feed = follow(engine);
  const writers = startWriters([engine], id);
  await expect.poll(() => writers.acknowledged.length).toBeGreaterThan(100);
  await fleet.kill(0);
  await fleet.promote(1);
  await pooler.pointAt(fleet.address(1));
  const before = writers.acknowledged.length;
  await expect.poll(() => writers.acknowledged.length).toBeGreaterThan(before + 100);
  await writers.stop();
  const { stored, report } = await readBack(engine, id);
  const { changes, head } = await allPositions(engine);
  await expect.poll(() => feed.heard.length).toBe(head);
  await feed.stop();
  expect(feed.heard).toEqual(changes);
  expect(new Set(stored).size).toBe(stored.length);
  expect(stored).toEqual(expect.arrayContaining([...writers.acknowledged]));
  expect(report.ok).toBe(true);
  expect((await engine.status()).losses).toEqual([]);
});
