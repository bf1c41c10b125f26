import { expect, test } from "vitest";
import { distinctEnds } from "./words.ts";

test("paths are told by the shortest end that no other one has", () => {
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
