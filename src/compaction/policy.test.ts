import { describe, expect, test } from "vitest";
import type { JsonValue } from "../model/json.ts";
import { DEFAULT_COMPACTION_POLICY, isCompactionDue, readCompactionPolicy } from "./policy.ts";

function check(compaction: JsonValue, expected: object, problems: string[] = []): void {
  expect(readCompactionPolicy({ compaction })).toEqual({
    policy: { ...DEFAULT_COMPACTION_POLICY, ...expected },
    problems,
  });
}

describe("readCompactionPolicy", () => {
  test("has a default for each field", () => {
    expect(DEFAULT_COMPACTION_POLICY).toEqual({
      triggerTurns: 50,
      triggerTokens: 8_000,
      summarizerModel: "default",
      strategy: "rolling",
    });
    expect(readCompactionPolicy({ other: 1 })).toEqual({
      policy: DEFAULT_COMPACTION_POLICY,
      problems: [],
    });
    check({}, {});
    check(null, {});
    check({ triggerTurns: null }, {});
  });

  test("takes given values", () => {
    check({ triggerTurns: 10, strategy: "never" }, { triggerTurns: 10, strategy: "never" });
    check(
      { triggerTokens: 0, summarizerModel: "fast" },
      { triggerTokens: 0, summarizerModel: "fast" },
    );
    check(
      { triggerTurns: "12", strategy: "Hierarchical" },
      { triggerTurns: 12, strategy: "hierarchical" },
    );
  });

  test("reports invalid values", () => {
    check({ triggerTurns: -1, triggerTokens: 9 }, { triggerTokens: 9 }, [
      "compaction.triggerTurns must be a number that is not negative; 50 applies",
    ]);
    check({ strategy: "weekly", summarizerModel: 4, triggerTokens: "many" }, {}, [
      "compaction.triggerTokens must be a number that is not negative; 8000 applies",
      "compaction.summarizerModel must be a name; default applies",
      "compaction.strategy must be one of rolling, hierarchical, never; rolling applies",
    ]);
    check({ trigger: 5 }, {}, ["compaction.trigger is not known; did you mean triggerTurns?"]);
    check({ xyzzy: 5 }, {}, ["compaction.xyzzy is not known"]);
    check({ enabled: "no" }, {}, ["compaction.enabled must be true or false; true applies"]);
    check("rolling", {}, ["compaction is a string, not an object: the defaults apply"]);
    check([], {}, ["compaction is an array, not an object: the defaults apply"]);
  });
});

describe("isCompactionDue", () => {
  const due = (turns: number, tokens: number, more = {}) =>
    isCompactionDue({ ...DEFAULT_COMPACTION_POLICY, ...more }, { turns, tokens });

  test("means above either threshold", () => {
    expect([due(50, 8_000), due(51, 0), due(0, 8_001)]).toEqual([false, true, true]);
  });

  test("never applies to a disabled policy", () => {
    expect(due(1_000, 1_000_000, { strategy: "never" })).toBe(false);
  });
});
