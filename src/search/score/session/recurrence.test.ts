import { describe, expect, test } from "vitest";
import { IndexFixture } from "../../../../test/support/index-fixture.ts";
import { DEFAULT_PROFILE, type RankingProfile } from "../profile.ts";
import { recurrenceOf } from "./recurrence.ts";
import type { ScoredSession } from "./session-scores.ts";

/** `outputs` are a part of the `passages`; a message without a score of its own does not count. */
function scored(passages: number[], outputs: number[] = passages.map(() => 0)): ScoredSession {
  return {
    session: 1,
    count: passages.length,
    scores: Float64Array.from(passages),
    passages: Float64Array.from(passages),
    outputs: Float64Array.from(outputs),
    covered: 1,
    said: 1,
    roles: new Uint8Array(passages.length),
    counts: new Float64Array(1),
    length: passages.length,
    accepts: () => true,
    spot: (place) => ({ view: 0, document: place, role: 0, length: 1, score: 1 }),
  };
}

const ROLES = Float64Array.of(2);

describe("depth", () => {
  test("is the mean of the ten best passages, weighted by role", () => {
    const passages = [3, 12, 1, 11, 2, 10, 4, 9, 5, 8, 6, 7];
    expect(recurrenceOf(scored(passages), ROLES)).toEqual({ sum: 2 * 78, depth: 2 * 7.5 });
  });

  test("counts each missing passage as 0", () => {
    expect(recurrenceOf(scored([4, 0, 6]), ROLES)).toEqual({ sum: 20, depth: 2 });
  });

  test("ignores tool outputs", () => {
    expect(recurrenceOf(scored([5, 9, 4], [1, 9, 0]), ROLES)).toEqual({ sum: 16, depth: 1.6 });
  });
});

/** The first session by a search for `retry budget`. */
function first(profile: RankingProfile, isIndexed: boolean): string | undefined {
  const fixture = new IndexFixture();
  const worked = fixture.model.createSession();
  const mentioned = fixture.model.createSession();
  for (let i = 0; i < 12; i++) {
    const step = `a retry budget for the uploads of step ${i}, once the queue is drained and its lock given back`;
    fixture.model.append(worked, "assistant", step);
    fixture.model.append(mentioned, "assistant", `a menu for the guests of table ${i}`);
  }
  fixture.model.append(mentioned, "assistant", "the retry budget is a budget for each retry");
  if (isIndexed) fixture.maintain("flush");
  const [hit] = fixture.search("retry budget", { profile, limit: 2 }).hits;
  return hit?.sessionId === `s${worked}` ? "worked on it" : "mentioned it";
}

describe.each([
  ["in the tail", false],
  ["in a segment", true],
] as const)("a session with many good passages, %s", (_, isIndexed) => {
  const others = {
    ...DEFAULT_PROFILE,
    session: 0,
    recurrence: 0,
    coverage: 0,
    verbatim: 0,
    pairs: 0,
  };

  test("ranks before one with a single good message", () => {
    expect(first(others, isIndexed)).toBe("worked on it");
  });

  test("ranks behind it with depth weight 0", () => {
    expect(first({ ...others, depth: 0 }, isIndexed)).toBe("mentioned it");
  });
});
