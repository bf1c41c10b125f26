import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { LEASE_MS } from "../../model/lease.ts";
import type { Embedder } from "../../model/models.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";

/** Counts vowels. It waits for `slow` before it embeds several texts. */
function embedderOf(slow: () => unknown): Embedder {
  return {
    name: "vowels",
    embed: async (texts) => {
      if (texts.length > 1) await slow();
      return texts.map((text) => [..."aeiou"].map((vowel) => text.split(vowel).length));
    },
  };
}

/** A clock that runs, and can be advanced. */
function useFakeClock(): void {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "performance"],
    shouldAdvanceTime: true,
  });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** A store with two messages without vectors. The lease expires while `slow` runs. */
async function openSlow(slow: (expire: () => void) => void): Promise<Engine> {
  const path = join(createFolder(), "x.db");
  {
    await using before = await open(path, { inThread: true });
    const session = await before.createSession({ agent: "a", createdBy: "ana" });
    await session.append([
      { role: "user", content: "The cat sleeps." },
      { role: "assistant", content: "Let it rest." },
    ]);
  }
  const embedder = embedderOf(() => slow(() => vi.advanceTimersByTime(2 * LEASE_MS)));
  const engine = await open(path, { inThread: true, embedder });
  useFakeClock();
  return engine;
}

test("embedding goes on after its lease expired during a slow batch", async () => {
  let batches = 0;
  await using engine = await openSlow((expire) => {
    if (++batches === 1) expire();
  });
  const progress = await engine.embedStored({ again: true });
  expect(batches).toBe(2);
  expect(progress.vectors).toBeGreaterThan(0);
  expect(progress.changes).toBe(progress.total);
  expect((await engine.indexStatus()).vectors).toMatchObject({
    gaps: [],
    vectors: progress.vectors,
  });
});

test("embedding ends if its lease expires during every batch", async () => {
  let batches = 0;
  await using engine = await openSlow((expire) => {
    batches++;
    expire();
  });
  await expect(engine.embedStored({ again: true })).rejects.toMatchObject({ code: "store_busy" });
  expect(batches).toBe(3);
});

test("embedding takes over from the process's own embedding of new messages", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const slow = () => {
    begin();
    return released;
  };
  await using engine = await open(":memory:", { inThread: true, embedder: embedderOf(slow) });
  const session = await engine.createSession({ agent: "a", createdBy: "ana" });
  // More than one slice of the feed.
  for (let i = 0; i < 300; i += 50) {
    const turn = (j: number) => [
      { role: "user" as const, content: `Question ${i + j}` },
      { role: "assistant" as const, content: `Answer ${i + j}` },
    ];
    await session.append(Array.from({ length: 50 }, (_, j) => turn(j)).flat());
  }
  await begun;
  useFakeClock();
  const embedding = engine.embedStored();
  // Longer than it waits for another process.
  vi.advanceTimersByTime(2 * LEASE_MS);
  release();
  expect((await embedding).vectors).toBeGreaterThan(0);
  expect((await engine.indexStatus()).vectors).toMatchObject({ gaps: [], vectors: 600 });
});
