import fc from "fast-check";
import { expect, test } from "vitest";
import { repeats } from "../../test/support/repeats.ts";
import { pairsOf, strategies, transcripts } from "./plan.cases.ts";
import { type CompactionPlan, planCompaction } from "./plan.ts";
import type { PlanItem, PlanOptions } from "./plan-input.ts";

const limits = fc.option(fc.integer({ min: 200, max: 40_000 }), { nil: undefined });

function options(strategy: PlanOptions["strategy"], limit: number | undefined): PlanOptions {
  const base = { strategy, summaryTokens: 120, previousSummaryTokens: 80 };
  return limit === undefined ? base : { ...base, limitTokens: limit };
}

/** The remaining context: pinned, then kept. */
function staying(items: readonly PlanItem[], plan: CompactionPlan): PlanItem[] {
  const covered = new Set(plan.covered);
  return items.filter(({ id }) => !covered.has(id));
}

function keptFrom(items: readonly PlanItem[], plan: CompactionPlan): number {
  if (plan.firstKeptEntryId === null) return items.length;
  return items.findIndex(({ id }) => id === plan.firstKeptEntryId);
}

/** The pending turn by its definition, read from the end. */
function pendingItems(items: readonly PlanItem[]): PlanItem[] {
  const newestUser = items.findLastIndex(
    ({ kind, role, results }) => kind === "message" && role === "user" && results.length === 0,
  );
  const newestAssistant = items.findLastIndex(
    ({ kind, role }) => kind === "message" && role === "assistant",
  );
  if (newestUser > newestAssistant) return items.slice(newestUser);
  const after = items.slice(newestAssistant + 1);
  const caller = items[newestAssistant];
  if (caller === undefined || !after.every(({ results }) => results.length > 0)) return [];
  const answered = new Set(after.flatMap(({ results }) => results));
  return caller.calls.every((id) => answered.has(id)) ? [] : items.slice(newestAssistant);
}

function check(items: PlanItem[], planOptions: PlanOptions): CompactionPlan | null {
  const made = planCompaction(items, planOptions);
  expect(planCompaction(structuredClone(items), planOptions)).toEqual(made);
  if ("none" in made) return null;
  const { plan } = made;
  const cut = keptFrom(items, plan);
  const covered = new Set(plan.covered);

  // Covered and pinned before the cut, kept after it: each item once, in order.
  expect(plan.covered.length).toBeGreaterThan(0);
  const before = items.slice(0, cut).map(({ id }) => id);
  expect(before.filter((id) => covered.has(id))).toEqual(plan.covered);
  expect(before.filter((id) => !covered.has(id))).toEqual(plan.pinned);
  expect([plan.from, plan.through]).toEqual([plan.covered[0], plan.covered.at(-1)]);
  const last = items.find(({ id }) => id === plan.through);
  expect(plan.throughSequence).toBe(last?.sequence);

  // No pair is split, whichever half stays.
  for (const [call, result] of pairsOf(items)) {
    expect(covered.has(items[call]?.id ?? "")).toBe(covered.has(items[result]?.id ?? ""));
  }
  const mustStay = [...items.filter(({ pinned }) => pinned), ...pendingItems(items)];
  expect(mustStay.filter(({ id }) => covered.has(id))).toEqual([]);

  const whole = staying(items, plan).reduce((sum, { tokens }) => sum + tokens, 0);
  const saved = plan.cuts.reduce((sum, { entryId, toolUseId, keepTokens }) => {
    const item = items.slice(cut).find(({ id }) => id === entryId);
    expect(item?.pinned).toBe(false);
    expect(keepTokens).toBeGreaterThanOrEqual(200);
    const size = item?.resultTokens.get(toolUseId) ?? 0;
    expect(size).toBeGreaterThan(keepTokens);
    return sum + size - keepTokens;
  }, 0);
  expect(plan.tokensAfter).toBe(120 + whole - saved);
  return plan;
}

/** The minimum: all but the last turn covered, all results at their shortest. */
function leastTokens(items: PlanItem[]): number | null {
  const plan = check(items, options({ keep: "none" }, undefined));
  if (plan === null) return null;
  const cut = keptFrom(items, plan);
  const pairs = pairsOf(items);
  const isPinned = (i: number, seen = new Set<number>()): boolean => {
    if (items[i]?.pinned === true) return true;
    seen.add(i);
    return pairs.some(([a, b]) => {
      const other = a === i ? b : b === i ? a : -1;
      return other >= 0 && !seen.has(other) && isPinned(other, seen);
    });
  };
  let tokens = plan.tokensAfter;
  items.forEach((item, i) => {
    if (i < cut || isPinned(i)) return;
    for (const size of item.resultTokens.values()) tokens -= Math.max(0, size - 200);
  });
  return tokens;
}

test("a plan splits no pair, covers no entry that must stay, and its figures add up", () => {
  fc.assert(
    fc.property(transcripts, strategies, limits, (items, strategy, limit) => {
      check(items, options(strategy, limit));
    }),
    { numRuns: repeats(300, 2_000) },
  );
});

test("the limit is met whenever the pinned part and the pending turn allow it", () => {
  fc.assert(
    fc.property(
      transcripts,
      strategies,
      fc.integer({ min: 200, max: 40_000 }),
      (items, strategy, limit) => {
        const least = leastTokens(items);
        const plan = check(items, options(strategy, limit));
        if (least === null) expect(plan).toBeNull();
        else if (plan !== null)
          expect(plan.tokensAfter).toBeLessThanOrEqual(Math.max(limit, least));
        else
          expect(80 + items.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(
            limit,
          );
      },
    ),
    { numRuns: repeats(300, 2_000) },
  );
});

test("over twenty compactions every message is kept or covered exactly once", () => {
  const arrivals = fc.array(transcripts, { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(arrivals, strategies, limits, (rounds, strategy, limit) => {
      const all: PlanItem[] = [];
      const covered: string[] = [];
      let items: PlanItem[] = [];
      for (const arrived of rounds) {
        const renamed = arrived.map((item, i) => ({
          ...item,
          id: `${all.length + i}`,
          sequence: all.length + i + 1,
        }));
        all.push(...renamed);
        items = [...items, ...renamed];
        const made = planCompaction(items, options(strategy, limit));
        if ("none" in made) continue;
        covered.push(...made.plan.covered);
        items = staying(items, made.plan);
      }
      expect(new Set(covered).size).toBe(covered.length);
      const left = items.map(({ id }) => id);
      expect([...covered, ...left].sort()).toEqual(all.map(({ id }) => id).sort());
      expect(left).toEqual(left.toSorted((a, b) => Number(a) - Number(b)));
    }),
    { numRuns: repeats(50, 200) },
  );
});
