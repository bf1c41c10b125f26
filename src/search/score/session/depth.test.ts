import { describe, expect, test } from "vitest";
import { ROLES } from "../../index/layout.ts";
import type { Placed } from "../rank.ts";
import { withDepth } from "./depth.ts";

const [USER, TOOL] = [ROLES.indexOf("user"), ROLES.indexOf("tool")];

/** Sessions in descending order of their score; each has a depth of 2. `null`: only its title matches. */
function sessionsOf(...roles: readonly (number | null)[]): Placed[] {
  return roles.map((role, i) => ({
    session: i,
    spot: role === null ? null : { view: 0, document: i, role, length: 1, score: 1 },
    score: 100 - i,
    parts: { message: 100 - i, neighbours: 0, session: 0, boost: 0, coverage: 0 },
    depth: 2,
    covered: 1,
    hasAll: true,
  }));
}

const gainOf = (placed: readonly Placed[]) =>
  withDepth(placed).map(({ score, parts }, i) => {
    expect(score - (placed[i] as Placed).score).toBeCloseTo(parts.session);
    return parts.session;
  });

describe("the depth of a session", () => {
  test("counts fully where the best sessions match in talk", () => {
    expect(gainOf(sessionsOf(USER, USER, USER, USER, USER, TOOL))).toEqual([2, 2, 2, 2, 2, 2]);
  });

  test("counts nothing where they match in tool traffic", () => {
    expect(gainOf(sessionsOf(TOOL, TOOL, TOOL, TOOL, TOOL, USER))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test("counts by the share of talk, a title included", () => {
    expect(gainOf(sessionsOf(TOOL, USER, TOOL, null))).toEqual([1, 1, 1, 1]);
  });

  test("takes each session once, by its best message", () => {
    const [first, second] = sessionsOf(USER, TOOL) as [Placed, Placed];
    expect(gainOf([first, { ...second, session: first.session }])).toEqual([2, 2]);
  });
});
