import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import type { Embedder } from "../../model/embedder.ts";
import { LEASE_MS } from "../../model/lease.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";

/** Counts vowels. It calls `slow` before it embeds several texts. */
function embedderOf(slow: () => void): Embedder {
  return {
    name: "vowels",
    embed: async (texts) => {
      if (texts.length > 1) slow();
      return texts.map((text) => [..."aeiou"].map((vowel) => text.split(vowel).length));
    },
  };
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
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "performance"],
    shouldAdvanceTime: true,
  });
  onTestFinished(() => {
    vi.useRealTimers();
  });
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
