import fc from "fast-check";
import { expect, test } from "vitest";
import { byNumber, DROPPED, joinMessages, mergeKeys, NewOrder } from "./renumbering.ts";

const ascending = fc
  .uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 20 })
  .map((keys) => Uint32Array.from(keys).sort());

test("of each key the newest live version stays, in key order", () => {
  const dropped = fc.uniqueArray(fc.tuple(fc.nat(3), fc.nat(20)).map(String));
  fc.assert(
    fc.property(fc.array(ascending, { maxLength: 4 }), dropped, (sources, gone) => {
      const isDropped = (_key: number, source: number, document: number) =>
        gone.includes(String([source, document]));
      const newest = new Map<number, string>();
      for (const [source, keys] of sources.entries()) {
        for (const [document, key] of keys.entries()) {
          if (!isDropped(key, source, document)) newest.set(key, String([source, document]));
        }
      }
      const { count, renumbering } = mergeKeys(sources, byNumber, isDropped);
      expect(count).toBe(newest.size);
      expect(inOrder(renumbering)).toEqual(
        [...newest].sort(([a], [b]) => a - b).map(([, place]) => place),
      );
    }),
  );
});

test("messages are ordered by session and source, without dead sessions", () => {
  const tables = [
    { slots: 5, numbers: Uint32Array.of(2, 4, 9), starts: Uint32Array.of(0, 2, 3) },
    { slots: 3, numbers: Uint32Array.of(2, 3), starts: Uint32Array.of(0, 1) },
  ];
  const joined = joinMessages(tables, new Set([4]), [new Set([1]), new Set()]);
  expect(joined.count).toBe(6);
  expect([...joined.sessions]).toEqual([2, 2, 3, 3, 9, 9]);
  expect(joined.renumbering.map((numbers) => [...numbers])).toEqual([
    [0, DROPPED, DROPPED, 4, 5],
    [1, 2, 3],
  ]);
});

/** The source of each new document. */
function inOrder(renumbering: readonly Uint32Array[]): string[] {
  const order = new NewOrder(renumbering);
  const places: string[] = [];
  while (order.next()) places.push(String([order.source, order.document]));
  return places;
}
