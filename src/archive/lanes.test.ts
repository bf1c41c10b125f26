import { expect, test } from "vitest";
import { Lanes } from "./ingest-files.ts";

/** Starts files of a size until there is no room; gives their number. */
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

test("many small files are read concurrently, or one large one", async () => {
  expect((await fill(new Lanes(), 10_000)).count).toBe(40);
  expect((await fill(new Lanes(), 1024 * 1024)).count).toBe(8);
  expect((await fill(new Lanes(), 4 * 1024 * 1024)).count).toBe(2);
  expect((await fill(new Lanes(), 250 * 1024 * 1024)).count).toBe(1);
});

test("a waiting task starts when a running one ends", async () => {
  const lanes = new Lanes();
  const { ends } = await fill(lanes, 10_000);
  const waiting = lanes.room(10_000);
  ends[3]?.();
  await waiting;
  for (const end of ends) end();
  await lanes.end();
});

test("a large file waits for all others, and others for it", async () => {
  const lanes = new Lanes();
  const { ends } = await fill(lanes, 1024 * 1024);
  const order: string[] = [];
  const large = lanes.room(100 * 1024 * 1024).then(() => order.push("large"));
  for (const end of ends.slice(1)) end();
  await new Promise((resolve) => setImmediate(resolve));
  order.push("all but one are done");
  ends[0]?.();
  await large;
  let endLarge = () => {};
  lanes.start(100 * 1024 * 1024, new Promise((resolve) => (endLarge = resolve)));
  const small = lanes.room(1).then(() => order.push("small"));
  await new Promise((resolve) => setImmediate(resolve));
  endLarge();
  await small;
  expect(order).toEqual(["all but one are done", "large", "small"]);
});
