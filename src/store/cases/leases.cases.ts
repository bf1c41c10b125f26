import { describe, expect, test } from "vitest";
import { type Cases, nextId } from "./fixture.cases.ts";

/** Longer than any case takes. */
const LONG_MS = 600_000;

export function leaseCases({ store, another }: Cases): void {
  describe("a lease", () => {
    test("is held by one owner, which may renew and release it", async () => {
      const name = nextId();
      const [here, there] = [store(), await another()];
      expect(await here.takeLease(name, "a", LONG_MS)).toBe(true);
      expect(await there.takeLease(name, "b", LONG_MS)).toBe(false);
      expect(await there.takeLease(name, "a", LONG_MS)).toBe(true);
      await there.dropLease(name, "b");
      expect(await there.takeLease(name, "b", LONG_MS)).toBe(false);
      await here.dropLease(name, "a");
      expect(await there.takeLease(name, "b", LONG_MS)).toBe(true);
      expect(await here.takeLease(name, "a", LONG_MS)).toBe(false);
    });

    test("goes to another owner once it has expired", async () => {
      const name = nextId();
      expect(await store().takeLease(name, "a", 0)).toBe(true);
      expect(await store().takeLease(name, "b", LONG_MS)).toBe(true);
      expect(await store().takeLease(name, "a", LONG_MS)).toBe(false);
    });

    test("is scoped to its name", async () => {
      const [one, two] = [nextId(), nextId()];
      expect(await store().takeLease(one, "a", LONG_MS)).toBe(true);
      expect(await store().takeLease(two, "b", LONG_MS)).toBe(true);
    });

    test("goes to one of many concurrent claims", async () => {
      const stores = [store(), await another()];
      for (const left of [undefined, "dead-owner"]) {
        const name = nextId();
        if (left !== undefined) await store().takeLease(name, left, 0);
        const taken = await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            stores[i % 2]?.takeLease(name, `owner ${i}`, LONG_MS),
          ),
        );
        expect(taken.filter((each) => each === true)).toHaveLength(1);
      }
    });
  });
}
