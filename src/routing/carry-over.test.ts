import { expect, test } from "vitest";
import { carryOver } from "./resets.ts";

const FIELDS = {
  chatType: "group",
  provider: "telegram",
  subject: "s",
  room: "r",
  space: "p",
  displayName: "Team",
  sendPolicy: "deny",
  thinkingLevel: "high",
  verboseLevel: "on",
  reasoningLevel: "on",
  elevatedLevel: "full",
  providerOverride: "a",
  modelOverride: "b",
  authProfileOverride: "c",
  sessionFile: "/f",
  inputTokens: 1,
  outputTokens: 2,
  totalTokens: 3,
  contextTokens: 4,
  compactionCount: 7,
  memoryFlushAt: 8,
  memoryFlushCompactionCount: 7,
  somethingElse: { a: 1 },
} as const;

const PLACE = {
  chatType: "group",
  provider: "telegram",
  subject: "s",
  room: "r",
  space: "p",
  displayName: "Team",
  sendPolicy: "deny",
};

test("an automatic reset keeps the labels of the place", () => {
  expect(carryOver(FIELDS, "stale")).toEqual({ ...PLACE, compactionCount: 0 });
});

test("a requested one also keeps the preferences of answers", () => {
  expect(carryOver(FIELDS, "explicit")).toEqual({
    ...PLACE,
    thinkingLevel: "high",
    verboseLevel: "on",
    reasoningLevel: "on",
    compactionCount: 0,
  });
});

test("absent fields stay absent", () => {
  expect(carryOver({}, "explicit")).toEqual({ compactionCount: 0 });
});
