import { expect, test } from "vitest";
import { resolveDate } from "./resolve-date.ts";

/** Local times: days are those of the process. */
const at = (month: number, day: number, hour = 0, minute = 0, year = 2026) =>
  new Date(year, month - 1, day, hour, minute);
const NOW = at(5, 15, 12, 30).getTime();

/** The first moment of `value`, and the first one after it. */
function range(value: string): (Date | undefined)[] {
  return (["since", "until"] as const).map((edge) => {
    const time = resolveDate(value, NOW, edge);
    return time === undefined ? undefined : new Date(time);
  });
}

test("a day, a month and a year are spans", () => {
  expect(range("2026-05-01")).toEqual([at(5, 1), at(5, 2)]);
  expect(range("2024-02")).toEqual([at(2, 1, 0, 0, 2024), at(3, 1, 0, 0, 2024)]);
  expect(range("2026")).toEqual([at(1, 1), at(1, 1, 0, 0, 2027)]);
  expect(range("Today")).toEqual([at(5, 15), at(5, 16)]);
  expect(range("yesterday")).toEqual([at(5, 14), at(5, 15)]);
});

test("an age and a timestamp are moments", () => {
  expect(range("24h")).toEqual([new Date(NOW - 86_400_000), new Date(NOW - 86_400_000)]);
  expect(range("7d")[0]).toEqual(new Date(NOW - 7 * 86_400_000));
  expect(range("2w")[0]).toEqual(new Date(NOW - 14 * 86_400_000));
  expect(range("2026-05-01T10:00")).toEqual([at(5, 1, 10), at(5, 1, 10)]);
  expect(range("2026-05-01 10:00")).toEqual([at(5, 1, 10), at(5, 1, 10)]);
  expect(range("2026-05-01T10:00:00+02:00")[0]).toEqual(new Date(Date.UTC(2026, 4, 1, 8)));
  expect(range("2026-05-01T10:00:00.123Z")[1]).toEqual(
    new Date(Date.UTC(2026, 4, 1, 10, 0, 0, 123)),
  );
});

test("a value that is no date gives none", () => {
  for (const value of [
    "",
    "soon",
    "2026-13",
    "2026-02-31",
    "2026-02-30T10:00Z",
    "2026-05-01T99:00",
    "05/04/2026",
    "7",
    "d",
    "0000-00",
  ]) {
    expect(range(value), value).toEqual([undefined, undefined]);
  }
});
