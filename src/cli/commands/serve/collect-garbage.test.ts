import { expect, onTestFinished, test, vi } from "vitest";
import { collectAfter, garbageCollector } from "./serve.ts";

test("garbage is collected when many followers have left, and not before", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let followers = 0;
  let collections = 0;
  const end = collectAfter(
    () => followers,
    () => collections++,
  );
  const seen: number[] = [];
  for (followers of [50, 0, 1_000, 600, 400, 390, 10, 0]) {
    vi.advanceTimersByTime(10_000);
    seen.push(collections);
  }
  end();
  expect(seen).toEqual([0, 0, 0, 0, 1, 1, 2, 2]);
});

test("what nothing holds is gone after a collection", async () => {
  const garbage = new WeakRef(Array.from({ length: 10 }, () => ({})));
  // A WeakRef holds its object to the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  garbageCollector()();
  expect(garbage.deref()).toBeUndefined();
});
