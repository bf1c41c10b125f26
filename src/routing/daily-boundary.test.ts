import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTimeZone, lastBoundary, nextBoundary } from "./resets.ts";

const at = (text: string) => Date.parse(text);
const iso = (time: number) => new Date(time).toISOString().replace(".000Z", "Z");

/** Now, the hour, the zone, and the last boundary: in UTC except for the hour. */
const TABLE: readonly (readonly [string, string, number, string, string])[] = [
  ["a millisecond before", "2026-05-04T03:59:59.999Z", 4, "UTC", "2026-05-03T04:00:00Z"],
  ["at the boundary", "2026-05-04T04:00:00Z", 4, "UTC", "2026-05-04T04:00:00Z"],
  ["a zone ahead", "2026-05-04T01:00:00Z", 4, "Europe/Vienna", "2026-05-03T02:00:00Z"],
  ["a zone behind", "2026-05-04T07:59:00Z", 4, "America/New_York", "2026-05-03T08:00:00Z"],
  ["a zone on another date", "2026-05-04T20:00:00Z", 4, "Asia/Tokyo", "2026-05-04T19:00:00Z"],
  [
    "a zone with a half-hour offset",
    "2026-05-04T12:00:00Z",
    4,
    "Asia/Kolkata",
    "2026-05-03T22:30:00Z",
  ],
  ["midnight", "2026-05-04T00:30:00Z", 0, "UTC", "2026-05-04T00:00:00Z"],
  ["the last hour", "2026-05-04T22:00:00Z", 23, "UTC", "2026-05-03T23:00:00Z"],
  // Vienna's clocks go from 2 to 3 at 01:00 UTC on 29 March 2026, and from 3 to 2 on 25 October.
  [
    "the day before daylight saving",
    "2026-03-28T12:00:00Z",
    4,
    "Europe/Vienna",
    "2026-03-28T03:00:00Z",
  ],
  ["a day of 23 hours", "2026-03-29T12:00:00Z", 4, "Europe/Vienna", "2026-03-29T02:00:00Z"],
  ["before a skipped hour", "2026-03-29T00:59:59Z", 2, "Europe/Vienna", "2026-03-28T01:00:00Z"],
  ["a skipped hour", "2026-03-29T01:00:00Z", 2, "Europe/Vienna", "2026-03-29T01:00:00Z"],
  ["a day of 25 hours", "2026-10-25T12:00:00Z", 4, "Europe/Vienna", "2026-10-25T03:00:00Z"],
  [
    "the first of a repeated hour",
    "2026-10-25T00:30:00Z",
    2,
    "Europe/Vienna",
    "2026-10-25T00:00:00Z",
  ],
  [
    "the second of a repeated hour",
    "2026-10-25T01:30:00Z",
    2,
    "Europe/Vienna",
    "2026-10-25T00:00:00Z",
  ],
  // Half an hour is skipped, or repeated.
  ["Lord Howe", "2026-10-03T16:00:00Z", 2, "Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
  // The clocks go forward at midnight, which that day lacks.
  ["Beirut", "2026-03-29T06:00:00Z", 0, "Asia/Beirut", "2026-03-28T22:00:00Z"],
  // Samoa skipped 30 December 2011.
  ["Samoa", "2011-12-30T12:00:00Z", 4, "Pacific/Apia", "2011-12-29T14:00:00Z"],
];

describe("the last boundary", () => {
  test.each(TABLE)("%s", (_name, now, hour, zone, expected) => {
    expect(iso(lastBoundary(at(now), hour, zone))).toBe(expected);
  });
});

test("the next boundary is the first one strictly after", () => {
  const zone = "Europe/Vienna";
  expect(iso(nextBoundary(at("2026-03-28T03:00:00Z"), 4, zone))).toBe("2026-03-29T02:00:00Z");
  expect(iso(nextBoundary(at("2026-03-28T02:59:59.999Z"), 4, zone))).toBe("2026-03-28T03:00:00Z");
  expect(iso(nextBoundary(at("2026-10-24T02:00:00Z"), 4, zone))).toBe("2026-10-25T03:00:00Z");
});

test("both agree at any time, hour and zone", () => {
  const zones = ["UTC", "Europe/Vienna", "America/St_Johns", "Australia/Lord_Howe", "Asia/Beirut"];
  const time = fc.integer({ min: at("2020-01-01"), max: at("2030-01-01") });
  fc.assert(
    fc.property(time, fc.nat(23), fc.constantFrom(...zones), (now, hour, zone) => {
      const last = lastBoundary(now, hour, zone);
      const next = nextBoundary(now, hour, zone);
      expect(last <= now && now < next).toBe(true);
      expect(nextBoundary(last, hour, zone)).toBe(next);
      expect(lastBoundary(next - 1, hour, zone)).toBe(last);
      const hours = (next - last) / 3_600_000;
      expect(hours >= 22.5 && hours <= 25.5).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("zones have names", () => {
  expect(["UTC", "Europe/Vienna", "", "Moon/Sea", "04:00"].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
