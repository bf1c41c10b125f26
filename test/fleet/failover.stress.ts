import { expect, onTestFinished, test } from "vitest";
import { type Engine, open } from "../../src/index.ts";
import { startFleet } from "../support/fleet.ts";
import { allPositions, follow, readBack, startWriters } from "./writers.ts";

const FAILOVERS = 20;
/** Maximum delay of the first write after a promotion. */
const FOUND_WITHIN_MS = 5_000;

test("twenty failovers, with each old primary restarted, lose and repeat no write", async () => {
  await using fleet = await startFleet({ synchronous: true });
  const nodes = await Promise.all(
    [0, 1, 2].map((server) => open(fleet.both, { replicas: [fleet.address(server % 2)] })),
  );
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });
  const [first] = nodes as [Engine, Engine, Engine];
  const { id } = await first.createSession({ agent: "coder", createdBy: "ana" });
  const feed = follow(nodes[2] as Engine);
  const writers = startWriters(nodes, id);
  const found: number[] = [];
  for (let round = 0; round < FAILOVERS; round++) {
    const old = round % 2;
    const written = writers.acknowledged.length;
    await expect.poll(() => writers.acknowledged.length).toBeGreaterThan(written + 200);
    await fleet.kill(old);
    await fleet.promote(1 - old);
    const promoted = performance.now();
    const before = writers.acknowledged.length;
    await expect
      .poll(() => writers.acknowledged.length, { interval: 5 })
      .toBeGreaterThan(before + 6);
    found.push(performance.now() - promoted);
    // Every other time it restarts as a primary (split brain) before it becomes a standby.
    if (round % 4 < 2) await fleet.start(old);
    await fleet.follow(old, 1 - old);
    await fleet.synchronize(1 - old);
  }
  await writers.stop();
  const { stored, report } = await readBack(first, id);
  const { changes, head } = await allPositions(first);
  await expect.poll(() => feed.heard.length).toBe(head);
  await feed.stop();
  const lost = writers.acknowledged.filter((text) => !stored.includes(text)).length;
  const double = stored.length - new Set(stored).size;
  const longest = Math.round(Math.max(...found));
  process.stdout.write(
    `${writers.acknowledged.length} acknowledged, ${lost} lost, ${double} double, ${writers.failures.length} repeated; found in ${longest} ms at most\n`,
  );
  expect({ lost, double, ok: report.ok }).toEqual({ lost: 0, double: 0, ok: true });
  expect(feed.heard).toEqual(changes);
  expect(longest).toBeLessThan(FOUND_WITHIN_MS);
});
