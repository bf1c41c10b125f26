import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

describe("a map of what is recent", () => {
  test("forgets nothing up to its limit, and then the older half", () => {
    const map = new RecentMap<number, string>(4);
    for (const key of [1, 2, 3, 4]) map.set(key, `v${key}`);
    expect([...map.keys()]).toEqual([1, 2, 3, 4]);
    map.set(5, "v5");
    expect([...map]).toEqual([3, 4, 5].map((key) => [key, `v${key}`]));
    expect([map.get(2), map.has(2), map.get(3), map.has(3)]).toEqual([
      ...[undefined, false, "v3", true],
    ]);
  });

  test("keeps what is set again, and gives null where that is the value", () => {
    const map = new RecentMap<string, number | null>(4, [
      ["a", 1],
      ["b", 2],
    ]);
    for (const key of ["c", "a", "d", "e"]) map.set(key, null);
    expect([...map]).toEqual([
      ["c", null],
      ["a", null],
      ["d", null],
      ["e", null],
    ]);
    map.delete("c");
    map.delete("e");
    expect([map.has("c"), map.has("e"), map.get("a"), map.size]).toEqual([false, false, null, 2]);
  });

  test("always knows the last half, and never holds more than its limit", () => {
    const steps = fc.array(fc.tuple(fc.nat(12), fc.boolean()), { maxLength: 80 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (all, half) => {
        const map = new RecentMap<number, number>(2 * half);
        // What a map that forgets nothing holds, the key that was set last at its end.
        let model: [number, number][] = [];
        for (const [i, [key, isSet]] of all.entries()) {
          model = model.filter(([known]) => known !== key);
          if (isSet) model.push([key, i]);
          if (isSet) map.set(key, i);
          else map.delete(key);
          expect(map.size).toBeLessThanOrEqual(2 * half);
          expect(model).toEqual(expect.arrayContaining([...map]));
          expect([...map]).toEqual(expect.arrayContaining(model.slice(-half)));
          expect([map.has(key), map.get(key)]).toEqual([isSet, isSet ? i : undefined]);
        }
      }),
    );
  });
});
