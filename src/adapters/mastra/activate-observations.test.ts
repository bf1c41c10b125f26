import { describe, expect, test } from "vitest";
import { activate } from "./observation-records.ts";
import type { ObservationChunk, ObservationRecord } from "./sdk-types.ts";

const AT = new Date(Date.UTC(2026, 0, 2));

const chunk = (name: string, messageTokens: number): ObservationChunk => ({
  cycleId: `cycle ${name}`,
  observations: name,
  tokenCount: 10,
  messageIds: [`${name}1`, `${name}2`],
  messageTokens,
  lastObservedAt: AT,
  currentTask: `task ${name}`,
});

const record = (chunks: readonly ObservationChunk[]): ObservationRecord => ({
  id: "r",
  scope: "thread",
  threadId: "t",
  resourceId: "ana",
  createdAt: AT,
  updatedAt: AT,
  originType: "initial",
  generationCount: 0,
  activeObservations: "",
  bufferedObservationChunks: [...chunks],
  totalTokensObserved: 0,
  observationTokenCount: 5,
  pendingMessageTokens: 3_000,
  isReflecting: false,
  isObserving: false,
  isBufferingObservation: false,
  isBufferingReflection: false,
  lastBufferedAtTokens: 0,
  lastBufferedAtTime: null,
  config: {},
});

const LARGE = { messageTokensThreshold: 100_000 };

describe("the number of activated chunks", () => {
  // Of a threshold of 10,000 tokens a quarter, 2,500, is to stay.
  test.each([
    ["as many as reach the target", [1_000, 1_000, 1_000, 1_000], 5_500, {}, 3],
    ["one that goes over it a little", [1_000, 1_200, 1_500], 4_500, {}, 2],
    ["one less, if the last takes nearly all that is to stay", [1_000, 3_400], 4_500, {}, 1],
    ["one less, if too little would be left", [1_000, 2_600], 4_500, {}, 1],
    ["all that is there, if it is too little", [500, 500], 9_000, {}, 2],
    ["the first, if it alone is too much", [9_000, 10], 4_500, {}, 1],
    ["all, if nothing is to stay", [700, 700], 1_400, { activationRatio: 1 }, 2],
    ["one, if none has tokens", [0, 0], 4_500, {}, 1],
    ["one, if nothing has to go", [400, 400], 500, {}, 1],
    ["one less of a large window", [10_000, 28_900], 40_000, LARGE, 1],
    ["all of it by force", [10_000, 28_900], 40_000, { ...LARGE, forceMaxActivation: true }, 2],
  ] as const)("%s", (_, tokens, currentPendingTokens, options, expected) => {
    const chunks = tokens.map((count, i) => chunk(String(i), count));
    const { activated, record: after } = activate(record(chunks), {
      id: "r",
      activationRatio: 0.75,
      messageTokensThreshold: 10_000,
      currentPendingTokens,
      ...options,
    });
    expect(activated.chunksActivated).toBe(expected);
    expect(after.bufferedObservationChunks?.length ?? 0).toBe(tokens.length - expected);
  });
});

test("activated chunks follow a boundary, and are counted", () => {
  const before = { ...record([chunk("a", 900), chunk("b", 900)]), activeObservations: "old" };
  const { record: after, activated } = activate(before, {
    id: "r",
    activationRatio: 1,
    messageTokensThreshold: 1_800,
    currentPendingTokens: 1_800,
  });
  expect(after).toMatchObject({
    activeObservations: `old\n\n--- message boundary (${AT.toISOString()}) ---\n\na\n\nb`,
    observationTokenCount: 25,
    pendingMessageTokens: 1_200,
    lastObservedAt: AT,
  });
  expect(activated).toMatchObject({
    messageTokensActivated: 1_800,
    observationTokensActivated: 20,
    messagesActivated: 4,
    activatedCycleIds: ["cycle a", "cycle b"],
    activatedMessageIds: ["a1", "a2", "b1", "b2"],
    currentTask: "task b",
  });
  const nothing = { ...before, bufferedObservationChunks: undefined };
  const again = { id: "r", activationRatio: 1, messageTokensThreshold: 1, currentPendingTokens: 1 };
  expect(activate(nothing, again).record).toBe(nothing);
});
