import { describe, expect, test } from "vitest";
import { IndexFixture } from "../../../test/support/index-fixture.ts";
import { DEFAULT_PROFILE, type RankingProfile } from "./profile.ts";
import { pairsOf } from "./word-pairs.ts";

/** Two sessions with the same words: the older one has them in query order. */
function found(profile: RankingProfile, query: string, isIndexed: boolean): string[] {
  const fixture = new IndexFixture();
  const side = fixture.model.createSession();
  const apart = fixture.model.createSession();
  const other = fixture.model.createSession();
  fixture.model.append(side, "user", "the retry budget of uploads is small and old");
  fixture.model.append(apart, "user", "the budget is small and old of uploads retry");
  fixture.model.append(other, "user", "lunch at noon");
  if (isIndexed) fixture.maintain("flush");
  const sessions = new Map([
    [`s${side}`, "side by side"],
    [`s${apart}`, "apart"],
    [`s${other}`, "other"],
  ]);
  return fixture
    .search(query, { profile, limit: 5 })
    .hits.map(({ sessionId }) => sessions.get(sessionId) ?? "");
}

describe.each([
  ["in the tail", false],
  ["in a segment", true],
] as const)("adjacent query words, %s", (_, isIndexed) => {
  test("rank their session first", () => {
    expect(found(DEFAULT_PROFILE, "limit retry budget", isIndexed)[0]).toBe("side by side");
  });

  test("have no effect at weight 0, where the newer of equal sessions ranks first", () => {
    const profile = { ...DEFAULT_PROFILE, pairs: 0 };
    expect(found(profile, "limit retry budget", isIndexed)[0]).toBe("apart");
  });

  test("count in query order only", () => {
    expect(found(DEFAULT_PROFILE, "limit budget retry", isIndexed)[0]).toBe("apart");
  });
});

describe("the pairs of a query", () => {
  const term = (label: string, idf: number, weight = 1) => ({
    term: { label, terms: [label], weight, isPiece: true },
    documents: 1,
    inViews: [],
    weight: weight * idf,
  });

  test("weigh as the more frequent word, and count once", () => {
    const terms = [term("retry", 4), term("budget", 3, 0.5)];
    expect(pairsOf(["retry", "budget", "retry", "budget"], terms)).toEqual([
      { first: "retry", second: "budget", weight: 3 },
      { first: "budget", second: "retry", weight: 3 },
    ]);
  });

  test("exclude very frequent words, and gaps", () => {
    const terms = [term("retry", 4), term("the", 0.2), term("budget", 3), term("old", 5)];
    expect(pairsOf(["retry", "the", "budget", null, "old", "retry"], terms)).toEqual([
      { first: "old", second: "retry", weight: 4 },
    ]);
  });
});
