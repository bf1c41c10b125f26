import { expect, test } from "vitest";
import { Slots } from "./batches.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("at most as many run as there are slots, in FIFO order", async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const works = [0, 1, 2, 3].map((n) =>
    slots.take(async () => {
      begun.push(n);
      await new Promise<void>((resolve) => {
        ends[n] = resolve;
      });
      return n;
    }),
  );
  await turn();
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await turn();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await turn();
  ends[3]?.();
  expect(await Promise.all(works)).toEqual([0, 1, 2, 3]);
});

test("a failed task releases its slot", async () => {
  const slots = new Slots(1);
  await expect(slots.take(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await slots.take(async () => "next")).toBe("next");
});
