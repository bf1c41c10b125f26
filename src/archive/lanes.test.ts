import { expect, test } from "vitest";
import { Lanes } from "./lanes.ts";

/** Begins files of a size until there is no room for another; gives how many. */
async function fill(lanes: Lanes, size: number): Promise<{ count: number; ends: (() => void)[] }> {
  const ends: (() => void)[] = [];
  for (;;) {
    const hasRoom = await Promise.race([
      lanes.room(size).then(() => true),
      new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
    ]);
    if (!hasRoom) return { count: ends.length, ends };
    lanes.start(size, new Promise((resolve) => ends.push(resolve)));
  }
}

test("many small files are read at once, and one that is large", async () => {
  expect((await fill(new Lanes(), 10_000)).count).toBe(40);
  expect((await fill(new Lanes(), 1024 * 1024)).count).toBe(8);
  expect((await fill(new Lanes(), 4 * 1024 * 1024)).count).toBe(2);
  expect((await fill(new Lanes(), 250 * 1024 * 1024)).count).toBe(1);
  expect((await fill(new Lanes(), Number.POSITIVE_INFINITY)).count).toBe(1);
});

test("who waits goes on when another is done", async () => {
  const lanes = new Lanes();
  const { ends } = await fill(lanes, 10_000);
  const waiting = lanes.room(10_000);
  ends[3]?.();
  await waiting;
  for (const end of ends) end();
  await lanes.end();
});
