import { expect, test } from "vitest";
import { resolveDate } from "./resolve-date.ts";

const NOW = Date.UTC(2026, 4, 15, 12, 30);

/** The first and last moment of `value`. */
function range(value: string): (string | undefined)[] {
  return (["since", "until"] as const).map((edge) => {
    const time = resolveDate(value, NOW, edge);
    return time === undefined ? undefined : new Date(time).toISOString();
  });
}

test("a day, a month and a year are spans", () => {
  expect(range("2026-05-01")).toEqual(["2026-05-01T00:00:00.000Z", "2026-05-01T23:59:59.999Z"]);
  expect(range("2024-02")).toEqual(["2024-02-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z"]);
  expect(range("2026")).toEqual(["2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"]);
  expect(range("Today")).toEqual(["2026-05-15T00:00:00.000Z", "2026-05-15T23:59:59.999Z"]);
  expect(range("yesterday")).toEqual(["2026-05-14T00:00:00.000Z", "2026-05-14T23:59:59.999Z"]);
});

test("an age and a timestamp are moments", () => {
  expect(range("24h")).toEqual(["2026-05-14T12:30:00.000Z", "2026-05-14T12:30:00.000Z"]);
  expect(range("7d")[0]).toBe("2026-05-08T12:30:00.000Z");
  expect(range("2w")[0]).toBe("2026-05-01T12:30:00.000Z");
  expect(range("2026-05-01T10:00")[0]).toBe("2026-05-01T10:00:00.000Z");
  expect(range("2026-05-01T10:00:00+02:00")[0]).toBe("2026-05-01T08:00:00.000Z");
});

test("a value that is no date gives none", () => {
  for (const value of [
    "",
    "soon",
    "2026-13",
    "2026-02-31",
    "2026-05-01T99:00",
    "7",
    "d",
    "0000-00",
  ]) {
    expect(range(value), value).toEqual([undefined, undefined]);
  }
});
