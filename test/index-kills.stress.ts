import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../src/index.ts";
import { createFolder } from "./support/folder.ts";
import { killWriters } from "./support/kill-writers.ts";

/** Depends on timing, so it runs in `npm run stress` only, alone. */

const TAKEOVER_MS = 2_000;

const live = () => new Promise<void>((resolve) => setTimeout(resolve, 200));

test("after ten writers were killed within three seconds, a search has the index caught up within two", async () => {
  const address = join(createFolder(), "killed.db");
  // The defaults: a segment of 1,024 changes, a lease of 30 seconds.
  const task = { address, flushAt: 1_024, leaseMs: 30_000, messages: 64 };
  for (let round = 0; round < 5; round++) {
    const { errors } = await killWriters({ ...task, writers: 10, whenToKill: live });
    expect(errors).toBe("");
    await using engine = await open(address);
    const before = await engine.indexStatus();
    expect(before.lag).toBeLessThanOrEqual(10_240 + 10 * 64);
    const isTakenOver = async () => {
      const { lag, holder } = await engine.indexStatus();
      return lag < 4 * 1_024 || (holder !== null && holder !== before.holder);
    };
    const started = performance.now();
    await engine.searchSessions("cron lock", { deadlineMs: 60_000 });
    await expect.poll(isTakenOver, { timeout: 60_000, interval: 10 }).toBe(true);
    expect(performance.now() - started).toBeLessThan(TAKEOVER_MS);
  }
});
