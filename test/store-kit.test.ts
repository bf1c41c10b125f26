/** The conformance suite as another package runs it: a wrapped store, through the built package. */

import { describe, expect, test } from "vitest";
import type * as StoreCases from "../src/store-kit/cases.ts";
import type * as StoreKit from "../src/store-kit/index.ts";

const { engineOn, openStore } = (await import("backscroll/store-kit" as string)) as typeof StoreKit;
const { ALL_CASES, storeCases, TRIVIAL_INDEX } = (await import(
  "backscroll/store-kit/cases" as string
)) as typeof StoreCases;

/** A third-party backend: a wrapper that forwards and counts every call. */
function counted(inner: StoreKit.Store, calls: Map<string, number>): StoreKit.Store {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

const calls = new Map<string, number>();

storeCases("a wrapped store", async () => ({
  store: counted(
    await openStore(":memory:", { indexing: { module: TRIVIAL_INDEX, flushAt: 0 } }),
    calls,
  ),
}));

describe("after the suite", () => {
  test("every method went through the wrapper", () => {
    for (const name of ["createSession", "append", "readEntries", "search", "dump"]) {
      expect([name, calls.get(name) ?? 0]).not.toEqual([name, 0]);
    }
    expect(ALL_CASES.length).toBeGreaterThan(25);
  });

  test("an engine runs on a foreign store", async () => {
    const own = new Map<string, number>();
    await using engine = engineOn(counted(await openStore(":memory:"), own));
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content: "Where does the heron nest?" });
    const { hits } = await engine.searchSessions("heron");
    expect(hits.map(({ sessionId }) => sessionId)).toEqual([session.id]);
    expect(own.get("append")).toBe(1);
  });
});
