import { expect, test } from "vitest";
import { FeedMarks } from "./feed-marks.ts";
import { chooseFollower, LagMeter, MAX_LAG_MS } from "./follower.ts";

const READY = { isThere: true, lagMs: 0 };
const GONE = { isThere: false, lagMs: 0 };
const LATE = { isThere: true, lagMs: MAX_LAG_MS + 1 };

test("round robin over followers that are reachable and not lagging", () => {
  const states = [READY, GONE, { isThere: true, lagMs: MAX_LAG_MS }, LATE];
  expect([0, 1, 2, 3].map((turn) => chooseFollower(states, turn))).toEqual([0, 2, 0, 2]);
  expect(chooseFollower([GONE, LATE], 0)).toBeUndefined();
  expect(chooseFollower([], 7)).toBeUndefined();
});

test("lag is the age of the oldest sample of the primary that the follower has not reached", () => {
  const meter = new LagMeter();
  meter.samplePrimary(1_000, 10);
  meter.sampleFollower(10);
  expect(meter.lag(1_000)).toEqual({ changes: 0, ms: 0 });
  meter.samplePrimary(2_000, 12);
  meter.samplePrimary(3_000, 12);
  meter.samplePrimary(4_000, 20);
  expect(meter.lag(4_500)).toEqual({ changes: 10, ms: 2_500 });
  meter.sampleFollower(15);
  expect(meter.lag(4_500)).toEqual({ changes: 5, ms: 500 });
  meter.sampleFollower(20);
  expect(meter.lag(9_000)).toEqual({ changes: 0, ms: 0 });
});

test("a follower that stays behind keeps its oldest sample", () => {
  const meter = new LagMeter();
  meter.sampleFollower(0);
  for (let i = 1; i <= 2_000; i++) meter.samplePrimary(i, i);
  expect(meter.lag(2_000)).toEqual({ changes: 2_000, ms: 1_999 });
});

test("high-water marks are monotonic, in an LRU of tenants", () => {
  const marks = new FeedMarks();
  marks.note("first", 5);
  marks.note("first", 3);
  marks.note("never", 0);
  expect([marks.of("first"), marks.of("never")]).toEqual([5, 0]);
  for (let i = 0; i < 10_000; i++) marks.note(`tenant ${i}`, 1);
  expect([marks.of("first"), marks.of("tenant 0")]).toEqual([0, 1]);
});
