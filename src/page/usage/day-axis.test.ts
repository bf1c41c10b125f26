import { expect, test } from "vitest";
import { fillDays, ticksOf } from "./day-axis.ts";

test("days without usage are filled in, also where the clocks change", () => {
  const days = fillDays([
    { day: "2026-03-30", value: 2 },
    { day: "2026-03-27", value: 1 },
  ]);
  expect(days).toEqual([
    { day: "2026-03-27", value: 1 },
    { day: "2026-03-28", value: 0 },
    { day: "2026-03-29", value: 0 },
    { day: "2026-03-30", value: 2 },
  ]);
  expect(fillDays([])).toEqual([]);
});

test("ticks are round numbers from 0 to the first at or above the maximum", () => {
  expect(ticksOf(0)).toEqual([0, 1]);
  expect(ticksOf(7)).toEqual([0, 2, 4, 6, 8]);
  expect(ticksOf(350_000_000)).toEqual([0, 1e8, 2e8, 3e8, 4e8]);
  expect(ticksOf(100)).toEqual([0, 20, 40, 60, 80, 100]);
});
