import { expect, test } from "vitest";
import { nameFeed } from "./feed-slice.ts";

/** A change that erased `count` entries. */
function erasure(position: number, count: number) {
  const ids = Array.from({ length: count }, (_, i) => `${position}-${i}`);
  const details = Buffer.from(JSON.stringify({ mode: "audit-only", entries: count, ids }));
  return { position, kind: "content_erased", at: 0, session_id: "s", details, live: 1 };
}

test("a slice is bounded in erasures, each of which is a look-up", () => {
  const changes = [erasure(1, 6_000), erasure(2, 4_000), erasure(4, 1), erasure(5, 1)];
  const first = nameFeed([], changes, 9);
  expect([first.through, first.erasures.map(({ position }) => position)]).toEqual([3, [1, 2]]);
  const rest = nameFeed([], changes.slice(2), 9);
  expect([rest.through, rest.erasures.length]).toEqual([9, 2]);
  // A single erasure is taken whatever its size: slices always advance.
  expect(nameFeed([], [erasure(1, 20_000)], 9).through).toBe(9);
});
