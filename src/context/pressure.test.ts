import { expect, test } from "vitest";
import { contextPressure } from "./context-window.ts";

const usage = (inputTokens: number, cacheReadTokens: number) => {
  return { inputTokens, outputTokens: 10, cacheCreationTokens: 5, cacheReadTokens };
};

const item = (
  sequence: number,
  tokens: number,
  reported: ReturnType<typeof usage> | null = null,
) => {
  return { id: `e${sequence}`, sequence, tokens, usage: reported };
};

test("pressure is the last call's total, cache included, plus an estimate of later entries", () => {
  const items = [item(1, 50), item(2, 60, usage(7, 900)), item(3, 30), item(4, 40)];
  expect(contextPressure(items, 0, 0)).toEqual({
    contextTokens: 7 + 10 + 5 + 900 + 70,
    estimatedTokens: 70,
    estimated: false,
    reportedBy: "e2",
  });
});

test("pressure does not sum calls", () => {
  const items = [item(1, 1, usage(100, 0)), item(2, 1, usage(110, 0)), item(3, 1, usage(120, 0))];
  expect(contextPressure(items, 0, 0).contextTokens).toBe(135);
});

test("pressure is marked as an estimate without a provider's report", () => {
  expect(contextPressure([item(1, 50), item(2, 60)], 0, 25)).toEqual({
    contextTokens: 135,
    estimatedTokens: 135,
    estimated: true,
    reportedBy: null,
  });
});

test("pressure ignores reports from before the compaction, also of kept messages", () => {
  const kept = [item(3, 50), item(4, 60, usage(7, 90_000)), item(6, 10)];
  expect(contextPressure(kept, 5, 200)).toMatchObject({ contextTokens: 320, estimated: true });
  const after = [...kept, item(7, 5, usage(400, 0))];
  expect(contextPressure(after, 5, 200)).toMatchObject({ contextTokens: 415, reportedBy: "e7" });
});
