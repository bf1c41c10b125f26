import { describe, expect, test } from "vitest";
import { ScopeCache } from "./scope-cache.ts";

const numbers = (count: number) => Uint32Array.from({ length: count }, (_, i) => i + 1);

describe("scopes", () => {
  test("of single sessions do not evict those of many", () => {
    const scopes = new ScopeCache();
    scopes.add("project", numbers(400));
    for (let i = 0; i < 200; i++) scopes.add(`session ${i}`, numbers(1));
    expect(scopes.get("project")).toHaveLength(400);
    expect(scopes.get("session 199")).toHaveLength(1);
    expect(scopes.get("session 0")).toBeUndefined();
  });

  test("are evicted by LRU, by number and by size", () => {
    const scopes = new ScopeCache();
    for (let i = 0; i < 64; i++) scopes.add(`project ${i}`, numbers(2));
    expect(scopes.get("project 0")).toBeDefined();
    scopes.add("one more", numbers(2));
    expect(scopes.get("project 0")).toBeDefined();
    expect(scopes.get("project 1")).toBeUndefined();
    scopes.add("everything", numbers(499_999));
    expect(scopes.get("everything")).toBeDefined();
    expect(scopes.get("one more")).toBeUndefined();
  });

  test("are invalidated by content, or all", () => {
    const scopes = new ScopeCache();
    scopes.add('{"model":["m"]}', numbers(1));
    scopes.add('{"agent":["a"]}', numbers(3));
    scopes.forget(/"model":/);
    expect(scopes.get('{"model":["m"]}')).toBeUndefined();
    expect(scopes.get('{"agent":["a"]}')).toBeDefined();
    scopes.clear();
    expect(scopes.get('{"agent":["a"]}')).toBeUndefined();
  });
});
