import { expect, test } from "vitest";
import { daysOf, periodOf, toRange } from "./periods.ts";

test("a range of days counts both of them whole, in the reader's time zone", () => {
  expect(periodOf("2026-05-01..2026-05-04")).toEqual({
    since: new Date(2026, 4, 1),
    until: new Date(2026, 4, 5),
  });
  expect(periodOf(toRange("2026-05-31", "2026-05-31"))).toEqual({
    since: new Date(2026, 4, 31),
    until: new Date(2026, 5, 1),
  });
  expect(periodOf(toRange("", "2026-05-04"))).toEqual({ until: new Date(2026, 4, 5) });
  expect(periodOf(toRange("2026-05-04", ""))).toEqual({ since: new Date(2026, 4, 4) });
});

test("a preset is its length before now, and anything else no period", () => {
  expect(periodOf("7d", Date.UTC(2026, 4, 8))).toEqual({ since: new Date(Date.UTC(2026, 4, 1)) });
  expect([periodOf(undefined), periodOf("soon"), periodOf("..")]).toEqual([{}, {}, {}]);
  expect([daysOf("7d"), daysOf("2026-05-01..")]).toEqual([
    ["", ""],
    ["2026-05-01", ""],
  ]);
  expect(toRange("", "")).toBeUndefined();
});
