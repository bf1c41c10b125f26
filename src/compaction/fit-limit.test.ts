import { expect, test } from "vitest";
import { type CompactionPlan, planCompaction } from "./plan.ts";
import type { KeepStrategy, PlanItem } from "./plan-input.ts";

function item(id: string, role: "user" | "assistant" | "tool", tokens: number): PlanItem {
  const call = /^[cr](\w+)$/.exec(id)?.[1];
  const isCall = id.startsWith("c");
  return {
    id,
    sequence: 1,
    kind: "message",
    role,
    tokens,
    pinned: false,
    calls: call !== undefined && isCall ? [call] : [],
    results: call !== undefined && !isCall ? [call] : [],
    resultTokens: new Map(call !== undefined && !isCall ? [[call, tokens]] : []),
  };
}

function round(name: string, tokens: number): PlanItem[] {
  return [item(`c${name}`, "assistant", 10), item(`r${name}`, "tool", tokens)];
}

/** Keeps all but the first item by default. */
function planWithin(
  limitTokens: number,
  items: PlanItem[],
  strategy: KeepStrategy = { keep: "messages", count: items.length - 1 },
): CompactionPlan {
  const made = planCompaction(items, {
    strategy,
    limitTokens,
    summaryTokens: 100,
    previousSummaryTokens: 0,
  });
  if ("none" in made) throw new Error(made.none);
  return made.plan;
}

const OLD = item("old", "user", 5_000);

test("a text within the limit is unchanged", () => {
  const { cuts, tokensAfter } = planWithin(20_110, [OLD, ...round("1", 20_000)]);
  expect({ cuts, tokensAfter }).toEqual({ cuts: [], tokensAfter: 20_110 });
});

test("the largest result is shortened first, and only as far as needed", () => {
  const { cuts, tokensAfter } = planWithin(15_000, [
    OLD,
    ...round("1", 9_000),
    ...round("2", 12_000),
  ]);
  expect(cuts).toEqual([{ entryId: "r2", toolUseId: "2", keepTokens: 5_880 }]);
  expect(tokensAfter).toBe(15_000);
});

test("no result is shortened to less than 200 tokens", () => {
  const items = [OLD, ...round("1", 9_000), ...round("2", 12_000), ...round("3", 150)];
  const { cuts, covered, tokensAfter } = planWithin(900, items);
  expect(covered).toEqual(["old"]);
  expect(cuts).toEqual([
    { entryId: "r2", toolUseId: "2", keepTokens: 200 },
    { entryId: "r1", toolUseId: "1", keepTokens: 420 },
  ]);
  expect(tokensAfter).toBe(900);
});

test("equal results are shortened oldest first", () => {
  const { cuts } = planWithin(20_000, [OLD, ...round("1", 12_000), ...round("2", 12_000)]);
  expect(cuts.map(({ entryId }) => entryId)).toEqual(["r1"]);
});

test("fewer messages are kept where shortening is not enough", () => {
  const items = [
    OLD,
    item("a", "assistant", 9_000),
    item("b", "assistant", 9_000),
    ...round("1", 9_000),
  ];
  const { firstKeptEntryId, cuts, tokensAfter } = planWithin(10_000, items);
  expect(firstKeptEntryId).toBe("b");
  expect(cuts).toEqual([{ entryId: "r1", toolUseId: "1", keepTokens: 890 }]);
  expect(tokensAfter).toBe(10_000);
});

test("a context over its limit is compacted although the strategy would keep all of it", () => {
  const items = [
    item("a", "assistant", 900),
    item("b", "assistant", 900),
    item("c", "assistant", 900),
  ];
  const { covered, tokensAfter } = planWithin(2_000, items, { keep: "tokens", tokens: 20_000 });
  expect({ covered, tokensAfter }).toEqual({ covered: ["a"], tokensAfter: 1_900 });
});

test("the pending turn stays, and the plan reports the size reached", () => {
  const { firstKeptEntryId, cuts, tokensAfter } = planWithin(1_000, [
    OLD,
    item("b", "assistant", 9),
    item("now", "user", 3_000),
  ]);
  expect({ firstKeptEntryId, cuts, tokensAfter }).toEqual({
    firstKeptEntryId: "now",
    cuts: [],
    tokensAfter: 3_100,
  });
});

test("pinned text is not shortened", () => {
  const pinned = round("1", 9_000).map((one) => ({ ...one, pinned: true }));
  const { cuts } = planWithin(9_500, [OLD, ...pinned, ...round("2", 800)]);
  expect(cuts).toEqual([{ entryId: "r2", toolUseId: "2", keepTokens: 380 }]);
});
