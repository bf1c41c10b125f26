import { expect, test } from "vitest";
import { formatAgo, parseTime } from "./times.ts";

const at = (day: number, hour = 0, minute = 0) => new Date(2026, 4, day, hour, minute);
const NOW = at(6, 15).getTime();

test.each([
  ["today", at(6), at(7)],
  ["Yesterday", at(5), at(6)],
  ["2026-05-01", at(1), at(2)],
  ["2026-05", at(1), new Date(2026, 5, 1)],
  ["2026", new Date(2026, 0, 1), new Date(2027, 0, 1)],
  ["30m", at(6, 14, 30), at(6, 14, 30)],
  ["12h", at(6, 3), at(6, 3)],
  ["2026-05-01T10:30", at(1, 10, 30), at(1, 10, 30)],
  [
    "2026-05-01T10:30:00.5Z",
    new Date("2026-05-01T10:30:00.5Z"),
    new Date("2026-05-01T10:30:00.5Z"),
  ],
])("%s begins and ends in the local time zone", (text, since, until) => {
  expect(parseTime(text, "since", "since", NOW)).toEqual(since);
  expect(parseTime(text, "until", "until", NOW)).toEqual(until);
});

test.each(["soon", "2026-02-31", "", "7x"])("%j is not a time", (text) => {
  expect(() => parseTime(text, "since", "since", NOW)).toThrow(
    /^since must be a time such as today/,
  );
});

test("an age of a day or more has its date", () => {
  expect(formatAgo(NOW - 30_000, NOW)).toBe("just now");
  expect(formatAgo(NOW - 3 * 3_600_000, NOW)).toBe("3 h ago");
  expect(formatAgo(at(3).getTime(), NOW)).toBe("3 d ago (2026-05-03)");
});
