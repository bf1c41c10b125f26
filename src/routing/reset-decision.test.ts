import { describe, expect, test } from "vitest";
import { dueReset, nextReset, type ResetPolicy } from "./resets.ts";

const at = (text: string) => Date.parse(`2026-05-${text}Z`);
const DAILY: ResetPolicy = { mode: "daily", atHour: 4, idleMinutes: null };
const IDLE: ResetPolicy = { mode: "idle", atHour: 4, idleMinutes: 60 };
const BOTH: ResetPolicy = { ...DAILY, idleMinutes: 60 };
const MANUAL: ResetPolicy = { mode: "manual", atHour: 4, idleMinutes: 1 };

/** The rule, the session's start, the last message, now, and the expected reason. */
const TABLE: readonly (readonly [
  string,
  ResetPolicy,
  string,
  string,
  string,
  string | undefined,
])[] = [
  ["daily, before the hour", DAILY, "03T20:00", "04T03:59", "04T03:59:59.999", undefined],
  ["daily, at the hour", DAILY, "03T20:00", "04T03:59", "04T04:00", "daily"],
  ["daily, started at the hour", DAILY, "04T04:00", "04T04:00", "05T03:59", undefined],
  ["daily, days later", DAILY, "04T04:00", "04T04:00", "09T12:00", "daily"],
  ["daily, active over the hour", DAILY, "03T20:00", "04T04:00", "04T04:00", "daily"],
  ["daily, idle for long", DAILY, "04T05:00", "04T05:00", "05T03:00", undefined],
  ["idle, exactly the minutes", IDLE, "03T20:00", "04T10:00", "04T11:00", undefined],
  ["idle, more than the minutes", IDLE, "03T20:00", "04T10:00", "04T11:00:00.001", "idle"],
  ["idle, across the daily hour", IDLE, "03T20:00", "04T03:59", "04T04:01", undefined],
  ["both, idle first", BOTH, "03T20:00", "03T21:00", "04T05:00", "idle"],
  ["both, daily first", BOTH, "03T20:00", "04T03:30", "04T05:00", "daily"],
  ["both, idle during the day", BOTH, "04T08:00", "04T09:00", "04T10:01", "idle"],
  ["both, neither", BOTH, "04T08:00", "04T09:00", "04T09:59", undefined],
  ["manual", MANUAL, "01T00:00", "01T00:00", "31T00:00", undefined],
  ["a clock that stepped back", BOTH, "05T12:00", "05T12:00", "03T01:00", undefined],
  ["a clock that stepped back over the hour", DAILY, "04T04:30", "04T04:30", "04T03:30", undefined],
];

describe("a session is reset", () => {
  test.each(TABLE)("%s", (_name, policy, startedAt, last, now, reason) => {
    const times = { startedAt: at(startedAt), lastInteractionAt: at(last) };
    const due = dueReset(policy, times, at(now), "UTC");
    expect(due?.reason).toBe(reason);
    // The predicted instant is exact: not a moment before, and from then on.
    const next = nextReset(policy, times, "UTC");
    expect(next !== undefined && next.at <= at(now) ? next : undefined).toEqual(due);
    if (next === undefined) return;
    expect(dueReset(policy, times, next.at - 1, "UTC")).toBeUndefined();
    expect(dueReset(policy, times, next.at, "UTC")).toEqual(next);
  });
});
