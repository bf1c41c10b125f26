import { expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";
import { pause } from "./pause.ts";

test("work under one key is sequential, under two concurrent", async () => {
  const queue = new KeyedQueue();
  const events: string[] = [];
  const work = (name: string) => async () => {
    events.push(`${name} begins`);
    await pause(5);
    events.push(`${name} ends`);
    return name;
  };
  const all = [
    queue.run("a", work("first")),
    queue.run("a", work("second")),
    queue.run("b", work("other")),
  ];
  expect(await Promise.all(all)).toEqual(["first", "second", "other"]);
  expect(events.slice(0, 2)).toEqual(["first begins", "other begins"]);
  expect(events.indexOf("second begins")).toBeGreaterThan(events.indexOf("first ends"));
});

test("failed work lets the next of its key run", async () => {
  const queue = new KeyedQueue();
  const failing = queue.run("a", () => Promise.reject(new Error("no")));
  const next = queue.run("a", async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});

test("a key is busy until its last work has ended", async () => {
  const queue = new KeyedQueue();
  const work = queue.run("a", () => pause(1));
  expect([queue.isBusy("a"), queue.isBusy("b")]).toEqual([true, false]);
  await work;
  expect(queue.isBusy("a")).toBe(false);
});
