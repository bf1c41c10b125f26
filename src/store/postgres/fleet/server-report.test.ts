import { expect, test } from "vitest";
import { choosePrimary, type ServerReport } from "./server-report.ts";

function server(
  index: number,
  timeline: number | null,
  behind: Record<string, number> = {},
  isWritable = true,
): ServerReport {
  return {
    index,
    server: `run ${index}`,
    timeline,
    isWritable,
    behind: new Map(Object.entries(behind)),
  };
}

test("the primary is the first writable server on the highest timeline", () => {
  const standby = server(0, null, {}, false);
  expect(choosePrimary([standby, server(1, 3), server(2, 2)], null)).toMatchObject({
    use: { index: 1 },
    isLossy: false,
  });
  expect(choosePrimary([server(0, 2), server(1, 2)], 2)).toMatchObject({ use: { index: 0 } });
  expect(choosePrimary([standby], null)).toEqual({ use: undefined, refused: [] });
  expect(choosePrimary([], 4)).toEqual({ use: undefined, refused: [] });
});

test("fencing: a former primary on a lower timeline is refused, however long its feed", () => {
  const old = server(0, 1);
  expect(choosePrimary([old], 2)).toEqual({ use: undefined, refused: [old] });
  expect(choosePrimary([old, server(1, 2)], 2)).toMatchObject({ use: { index: 1 } });
});

test("a shorter feed is another copy on the same timeline, and a loss on a higher one", () => {
  const copy = server(0, 2, { acme: 3 });
  expect(choosePrimary([copy], 2)).toEqual({ use: undefined, refused: [copy] });
  expect(choosePrimary([server(0, 3, { acme: 3 })], 2)).toMatchObject({
    use: { index: 0 },
    isLossy: true,
  });
  expect(choosePrimary([server(0, 3)], 2)).toMatchObject({ isLossy: false });
});

test("without timelines the feed decides", () => {
  const silent = server(0, null, { acme: 1 });
  expect(choosePrimary([silent], null)).toEqual({ use: undefined, refused: [silent] });
  expect(choosePrimary([server(0, null)], null)).toMatchObject({ use: { index: 0 } });
});
