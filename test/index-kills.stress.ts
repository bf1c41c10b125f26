import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../src/index.ts";
import { createFolder } from "./support/folder.ts";
import { killWriters } from "./support/kill-writers.ts";

/** Longer than any machine takes: who waits for the end of the lease waits longer than the test does. */
const LEASE_MS = 3_600_000;
const PATIENCE_MS = 600_000;

const live = () => new Promise<void>((resolve) => setTimeout(resolve, 200));

test("after ten writers were killed within three seconds, a search takes over the index without waiting for the end of their lease", async () => {
  const address = join(createFolder(), "killed.db");
  // The default: a segment of 1,024 changes.
  const task = { address, flushAt: 1_024, leaseMs: LEASE_MS, messages: 64 };
  for (let round = 0; round < 5; round++) {
    const { errors } = await killWriters({ ...task, writers: 10, whenToKill: live });
    expect(errors).toBe("");
    await using engine = await open(address);
    const before = await engine.indexStatus();
    // Writes wait from 10,240 changes on; a writer that soon dies has made some before it knows how many there are.
    expect(before.lag).toBeLessThanOrEqual(2 * 10_240);
    await engine.searchSessions("cron lock", { deadlineMs: 60_000 });
    const lag = async () => (await engine.indexStatus()).lag;
    await expect.poll(lag, { timeout: PATIENCE_MS, interval: 10 }).toBeLessThan(4 * 1_024);
  }
});
