import { describe, expect, test } from "vitest";
import { coverWeights, withCoverage } from "./coverage.ts";
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
  return { session, spot: null, score, parts, covered };
}

describe("what a term counts for", () => {
  test("is its idf, whatever the query weighs it by", () => {
    expect([...coverWeights([term("cron", 4), term("the", 0.1, { weight: 0.05 })])]).toEqual([
      4, 2,
    ]);
  });

  test("of an identifier is what its parts count for, most of it by themselves", () => {
    const whole = term("foobar", 9, { isPiece: false });
    const parts = [term("foo", 2, { whole: "foobar" }), term("bar", 3, { whole: "foobar" })];
    const [ofWhole, ...ofParts] = coverWeights([whole, ...parts]);
    expect(ofWhole).toBeCloseTo(0.3 * 5);
    expect(ofParts[0]).toBeCloseTo(0.7 * 2);
    expect(ofParts[1]).toBeCloseTo(0.7 * 3);
  });

  test("is nothing for other forms, prefixes and writers", () => {
    expect([...coverWeights([term("@ana", 3, { isPiece: false })])]).toEqual([0]);
  });
});

describe("the re-rank", () => {
  test("adds the covered share on the scale of the best score", () => {
    const ranked = withCoverage([placed(1, 10, 0.2), placed(2, 8, 1)], 0.5);
    expect(ranked.map(({ session, score }) => [session, score])).toEqual([
      [1, 11],
      [2, 13],
    ]);
    expect(ranked[1]?.parts.coverage).toBe(5);
  });

  test("is of the twenty best sessions, and none behind them comes before them", () => {
    const many = Array.from({ length: 30 }, (_, i) => placed(i, 30 - i, i < 20 ? 0 : 1));
    const scores = withCoverage(many, 1).map(({ score }) => score);
    expect(scores).toEqual(many.map(({ score }) => score));
  });
});
