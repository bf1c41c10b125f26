import { describe, expect, test } from "vitest";
import { bestSessions, coverWeights, withCoverage } from "./coverage.ts";
import type { WeightedTerm } from "./message-pass.ts";
import type { Placed } from "./rank.ts";

function term(
  label: string,
  weight: number,
  more: Partial<WeightedTerm["term"]> = {},
): WeightedTerm {
  const own = { label, terms: [label], weight: 1, isPiece: true, ...more };
  return { term: own, weight, documents: 1, inViews: [] };
}

function placed(session: number, score: number, covered: number): Placed {
  const parts = { message: score, neighbours: 0, session: 0, boost: 0, coverage: 0 };
  return { session, spot: null, score, parts, depth: 0, covered };
}

describe("the coverage weight of a term", () => {
  test("is its idf, independent of its query weight", () => {
    expect([...coverWeights([term("cron", 4), term("the", 0.1, { weight: 0.05 })])]).toEqual([
      4, 2,
    ]);
  });

  test("of an identifier is the sum of its parts, mostly earned by the whole", () => {
    const whole = term("foobar", 9, { isPiece: false });
    const parts = [term("foo", 2, { whole: "foobar" }), term("bar", 3, { whole: "foobar" })];
    const [ofWhole, ...ofParts] = coverWeights([whole, ...parts]);
    expect(ofWhole).toBeCloseTo(0.7 * 5);
    expect(ofParts[0]).toBeCloseTo(0.3 * 2);
    expect(ofParts[1]).toBeCloseTo(0.3 * 3);
  });

  test("is zero for other word forms, prefixes and actors", () => {
    expect([...coverWeights([term("@ana", 3, { isPiece: false })])]).toEqual([0]);
  });
});

const NONE: ReadonlyMap<number, number> = new Map();

describe("the re-rank", () => {
  test("adds the covered share on the scale of the best score", () => {
    const both = [placed(1, 10, 0.2), placed(2, 8, 1)];
    const ranked = withCoverage(both, bestSessions(both), 0.5, NONE);
    expect(ranked.map(({ session, score }) => [session, score])).toEqual([
      [1, 11],
      [2, 13],
    ]);
    expect(ranked[1]?.parts.coverage).toBe(5);
  });

  test("affects the twenty best sessions, and no later one overtakes", () => {
    const many = Array.from({ length: 30 }, (_, i) => placed(i, 30 - i, i < 20 ? 0 : 1));
    const scores = withCoverage(many, bestSessions(many), 1, NONE).map(({ score }) => score);
    expect(scores).toEqual(many.map(({ score }) => score));
  });

  test("adds the gains by a run and by pairs to the best sessions alone", () => {
    const run = { gain: 0.5, isLine: true };
    const all = [placed(1, 10, 0), { ...placed(2, 8, 0), run }, { ...placed(3, 6, 0), run }];
    const ranked = withCoverage(all, new Set([1, 2]), 0, new Map([[2, 0.25]]));
    expect(ranked.map(({ session, score, line }) => [session, score, line])).toEqual([
      [1, 10, undefined],
      [2, 15.5, 5],
      [3, 6, undefined],
    ]);
    expect(ranked[1]?.parts.coverage).toBe(7.5);
  });

  test("includes a session with a run, however low its score", () => {
    const many = Array.from({ length: 30 }, (_, i) => placed(i, 30 - i, 0));
    const last = { ...placed(30, 1, 0), run: { gain: 2, isLine: true } };
    expect(bestSessions([...many, last])).toContain(30);
    expect(bestSessions([...many, last])).not.toContain(19);
  });
});
