import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

describe("a two-generation map", () => {
  test("keeps everything up to its limit, and then drops the older half", () => {
    const map = new RecentMap<number, string>(4);
    for (const key of [1, 2, 3, 4]) map.set(key, `v${key}`);
    expect([...map.keys()]).toEqual([1, 2, 3, 4]);
    map.set(5, "v5");
    expect([...map]).toEqual([3, 4, 5].map((key) => [key, `v${key}`]));
    expect([map.get(2), map.has(2), map.get(3), map.has(3)]).toEqual([
      undefined,
      false,
      "v3",
      true,
    ]);
  });

  test("keeps a key that is set again, and gives null where that is the value", () => {
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

  test("drops a key only after half of the limit was set since, and never exceeds the limit", () => {
    const steps = fc.array(fc.tuple(fc.nat(12), fc.boolean()), { maxLength: 80, size: "max" });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (all, half) => {
        const map = new RecentMap<number, number>(2 * half);
        // Every key ever set, the last at the end; undefined once deleted.
        const model = new Map<number, number | undefined>();
        for (const [i, [key, isSet]] of all.entries()) {
          if (isSet) {
            model.delete(key);
            model.set(key, i);
            map.set(key, i);
          } else {
            if (model.has(key)) model.set(key, undefined);
            map.delete(key);
          }
          const present = [...model].filter(([, value]) => value !== undefined);
          const recent = [...model].slice(-half).filter(([, value]) => value !== undefined);
          expect(map.size).toBeLessThanOrEqual(2 * half);
          expect([...map]).toEqual(present.slice(-map.size || present.length));
          expect([...map].slice(-recent.length || map.size)).toEqual(recent);
          expect([map.has(key), map.get(key)]).toEqual([isSet, isSet ? i : undefined]);
        }
      }),
    );
  });
});
