import { expect, test } from "vitest";
import {
  anchorAt,
  indexOf,
  type Measured,
  place,
  scrollOf,
  sum,
  travel,
  wantedRange,
} from "./anchored-list.ts";

const VIEW = 700;
const MANY = 100_000;

function measured(first: number, heights: readonly number[], total: number = MANY): Measured {
  return { range: { first, last: first + heights.length }, heights, total, view: VIEW };
}

test("a hundred thousand rows stay within what browsers can place to the half pixel", () => {
  expect(travel(MANY, VIEW)).toBe(2_000_000);
  expect(travel(3, VIEW)).toBe(VIEW);
});

test("the scroll bar and the index lead to each other, at both ends and between", () => {
  for (const index of [0, 1, 49_999, MANY - 1]) {
    expect(indexOf(scrollOf(index, MANY, VIEW), MANY, VIEW)).toBe(index);
  }
  expect(scrollOf(MANY - 1, MANY, VIEW)).toBe(travel(MANY, VIEW) - VIEW);
});

test("rows above the anchor may grow without moving it", () => {
  const anchor = { index: 502, offset: -30 };
  for (const above of [100, 5_000]) {
    const placed = place(anchor, 400_000, measured(500, [above, above, 300, 300]));
    expect(placed.top + 2 * above - placed.scrollTop).toBe(-30);
  }
});

test("the first row is at the top, and the last ends the list", () => {
  const first = place({ index: 0, offset: 0 }, 120, measured(0, [50, 50, 900]));
  expect([first.top, first.scrollTop]).toEqual([0, 0]);
  const last = place({ index: MANY - 1, offset: 100 }, 1_000_000, measured(MANY - 2, [400, 600]));
  expect(last.height).toBe(last.top + 1_000);
});

test("rows that are still to come above have room, however tall those below it are", () => {
  const placed = place({ index: 3, offset: 0 }, 10, measured(2, [4_000, 4_000]));
  expect(placed.top).toBeGreaterThanOrEqual(VIEW);
  expect(placed.top + 4_000 - placed.scrollTop).toBe(0);
});

test("what is seen, and a view more on each side, is wanted; what is far is not", () => {
  const near = measured(
    500,
    Array.from({ length: 10 }, () => 100),
  );
  const at = { top: 400_000, scrollTop: 400_100, height: 2_000_000 };
  const wanted = wantedRange(at, near);
  expect(wanted.first).toBeLessThan(500);
  expect(wanted.last).toBeGreaterThan(510);
  const far = measured(
    500,
    Array.from({ length: 100 }, () => 100),
  );
  const kept = wantedRange({ ...at, scrollTop: 405_000 }, far);
  expect(kept.first).toBeGreaterThan(520);
  expect(kept.last).toBeLessThan(590);
});

test("the anchor is the row at the upper edge, and none where no row is in view", () => {
  const rows = measured(500, [100, 200, 300]);
  expect(anchorAt(1_150, 1_000, rows)).toEqual({ index: 501, offset: -50 });
  expect(anchorAt(9_000, 1_000, rows)).toBeUndefined();
  expect(anchorAt(100, 1_000, rows)).toBeUndefined();
  expect(sum([1, 2, 3])).toBe(6);
});

test("without a margin the rows in view suffice", () => {
  const rows = measured(
    50,
    Array.from({ length: 10 }, () => 100),
  );
  const placed = { top: 5_000, scrollTop: 5_100, height: 20_000 };
  expect(wantedRange(placed, rows, 0)).toEqual({ first: 50, last: 60 });
  const wide = wantedRange(placed, rows);
  expect(wide.first).toBeLessThan(50);
  expect(wide.last).toBeGreaterThan(60);
});
