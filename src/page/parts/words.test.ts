import { expect, test } from "vitest";
import {
  clock,
  day,
  distinctEnds,
  dollars,
  moment,
  newestOf,
  short,
  whole,
  withoutAnsi,
} from "./words.ts";

test("paths are shown by their shortest unique suffix", () => {
  const paths = [
    "/home/ana/shop",
    "/home/bo/shop",
    "/srv/jobs",
    "/srv/jobs/.worktrees/2",
    "C:\\work\\site",
    "shop",
    "",
  ];
  expect(Object.fromEntries(distinctEnds(paths))).toEqual({
    "/home/ana/shop": "ana/shop",
    "/home/bo/shop": "bo/shop",
    "/srv/jobs": "jobs",
    "/srv/jobs/.worktrees/2": ".worktrees/2",
    "C:\\work\\site": "site",
    shop: "shop",
    "": "",
  });
});

test("numbers have separators, or one decimal and a unit", () => {
  expect([0, 999, 1_000, 1_234_567].map(whole)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect([0, 7, 999, 999.96, 1_000, 12_345, 999_949, 999_950, 34.6e6, 2e15].map(short)).toEqual([
    "0",
    "7",
    "999",
    "1K",
    "1K",
    "12.3K",
    "999.9K",
    "1M",
    "34.6M",
    "2000T",
  ]);
  expect([0, 12_345_678, 602_700_000_000].map(dollars)).toEqual(["$0.00", "$12.35", "$602,700"]);
});

test("a list that is cut says so, and a whole one nothing", () => {
  expect(newestOf(100, 1_234, "sub-agents")).toBe("The newest 100 of 1,234 sub-agents.");
  expect(newestOf(100, 100, "sub-agents")).toBe("");
});

test("times are written as the command line writes them, in the time zone of the reader", () => {
  const time = new Date(2026, 4, 4, 9, 5).getTime();
  expect(day(time)).toBe("2026-05-04");
  expect(clock(time)).toBe("09:05");
  expect(moment(time)).toBe("2026-05-04 09:05");
});

test("control sequences of terminals are removed, and their text stays", () => {
  const colours = "\u001b[1;31mfailed\u001b[0m and \u001b[38;5;9mred\u001b[m";
  const link = "\u001b]8;;https://a.example\u0007here\u001b]8;;\u001b\\";
  expect(withoutAnsi(`${colours} ${link}\u001b[2K\u001bM.`)).toBe("failed and red here.");
  expect(withoutAnsi("[31m is text without its escape")).toBe("[31m is text without its escape");
});
