import { expect, test } from "vitest";
import { IndexCache } from "./index-cache.ts";

test("a blob that is read often outlives one that was read once", () => {
  const cache = new IndexCache(100);
  for (let slot = 0; slot < 10; slot++) cache.set(1, slot, `kept ${slot}`, 10);
  for (let i = 0; i < 3; i++) for (const slot of [2, 7]) cache.get(1, slot);
  for (let slot = 10; slot < 22; slot++) cache.set(1, slot, `kept ${slot}`, 10);
  expect([cache.get(1, 2), cache.get(1, 7)]).toEqual(["kept 2", "kept 7"]);
  expect(cache.get(1, 0)).toBeUndefined();
  expect(cache.bytes).toBe(100);
});

test("a blob that is no longer read is evicted, after any number of reads", () => {
  const cache = new IndexCache(50);
  cache.set(1, 0, "old", 10);
  for (let i = 0; i < 100; i++) cache.get(1, 0);
  for (let slot = 1; slot < 40; slot++) cache.set(2, slot, "new", 10);
  expect(cache.get(1, 0)).toBeUndefined();
});

test("a value that is set again replaces the previous one", () => {
  const cache = new IndexCache(100);
  cache.set(1, 5, "first", 60);
  cache.set(1, 5, "second", 20);
  cache.set(2, 5, "of another segment", 30);
  expect([cache.get(1, 5), cache.get(2, 5)]).toEqual(["second", "of another segment"]);
  expect(cache.bytes).toBe(50);
});

test("a value larger than the cache is not kept, and evicts nothing", () => {
  const cache = new IndexCache(100);
  cache.set(1, 1, "small", 40);
  cache.set(1, 2, "large", 101);
  expect([cache.get(1, 1), cache.get(1, 2)]).toEqual(["small", undefined]);
});
