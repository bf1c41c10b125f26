import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../src/index.ts";
import type { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import { killWriters } from "./support/kill-writers.ts";
import { createDatabase } from "./support/postgres.ts";
import { SEED, seeded } from "./support/random.ts";
import { repeats } from "./support/repeats.ts";

const FLUSH_AT = 64;
/** A write waits from ten times `flushAt` on: docs/store.md. */
const BOUND = 10 * FLUSH_AT;
/** A search takes over where four times `flushAt` are left. */
const LEFT = 4 * FLUSH_AT;
const MESSAGES = 32;
/** Longer than any process lives: a takeover means that the holder's death was detected. */
const LEASE_MS = 3_600_000;

/**
 * A writer may release the lease while it is killed, and pauses maintenance for a second after a
 * busy lock: the next writer compensates for either.
 */
const TRIES = 50;

test.each([
  ["SQLite", async () => join(createFolder(), "killed.db"), repeats(2, 30)],
  ["PostgreSQL", createDatabase, repeats(1, 15)],
])(
  "after writers were killed on %s, the index lag is bounded, and a searching process takes over",
  async (_, newAddress, writers) => {
    const random = seeded(SEED);
    const address = await newAddress();
    // This process writes without indexing.
    await using idle = await open(address, { indexing: { flushAt: 0, leaseMs: LEASE_MS } });
    const status = () => idle.indexStatus();
    const isHeld = async () => (await status()).holder !== null;
    const whenToKill = async (writer: Child) => {
      await writer.until(2 + Math.floor(random() * 20));
      await expect.poll(isHeld, { timeout: 60_000, interval: 1 }).toBe(true);
    };
    const task = { address, flushAt: FLUSH_AT, leaseMs: LEASE_MS, messages: MESSAGES, whenToKill };
    expect(await killWriters({ ...task, writers })).toMatchObject({ errors: "" });
    const isNear = async () => (await status()).lag <= BOUND + writers * MESSAGES;
    for (let i = 0; i < TRIES && !((await isHeld()) && (await isNear())); i++)
      await killWriters({ ...task, writers: 1 });
    expect(await isHeld()).toBe(true);
    expect(await isNear()).toBe(true);

    const session = await idle.createSession({ agent: "test", createdBy: "test" });
    const late = Array.from({ length: 2 * LEFT }, () => ({
      role: "user" as const,
      content: "late",
    }));
    await session.append(late);
    expect((await status()).lag).toBeGreaterThan(LEFT);
    await using searching = await open(address, {
      indexing: { flushAt: FLUSH_AT, leaseMs: LEASE_MS },
    });
    const { hits } = await searching.searchSessions("cron lock", { deadlineMs: 60_000 });
    expect(hits.length).toBeGreaterThan(0);
    await expect.poll(async () => (await status()).lag < LEFT, { timeout: 60_000 }).toBe(true);
  },
);
