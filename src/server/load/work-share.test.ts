import { expect, test } from "vitest";
import { WorkShare } from "./work-share.ts";

const OPTIONS = { share: 0.25, burstMs: 50, patienceMs: 1_000 };

/** A clock that advances only with work or waits. */
function stoppedClock() {
  let time = 0;
  return {
    now: () => time,
    pass: (ms: number) => {
      time += ms;
    },
    wait: async (ms: number) => {
      time += ms;
    },
    turn: async () => undefined,
  };
}

test("after its burst, a tenant beside others gets its share of the time", async () => {
  const clock = stoppedClock();
  const share = new WorkShare(OPTIONS, clock);
  share.saw("quiet");
  const pieces = 100;
  for (let i = 0; i < pieces; i++) {
    share.saw("loud");
    share.saw("quiet");
    await share.run("loud", () => clock.pass(10));
  }
  const worked = pieces * 10;
  expect(clock.now()).toBeGreaterThan((worked - 100) / 0.25);
  expect(clock.now()).toBeLessThan((worked + 100) / 0.25);
  const before = clock.now();
  await share.run("quiet", () => clock.pass(1));
  expect(clock.now() - before).toBe(1);
});

test("a lone tenant never waits", async () => {
  const clock = stoppedClock();
  const share = new WorkShare(OPTIONS, clock);
  for (let i = 0; i < 100; i++) {
    share.saw("only");
    await share.run("only", () => clock.pass(10));
  }
  expect(clock.now()).toBe(1_000);
});

test("pieces of one tenant run one at a time, also after a failure", async () => {
  const share = new WorkShare(OPTIONS, stoppedClock());
  const order: number[] = [];
  const failed = share.run("a", () => {
    order.push(1);
    throw new Error("no");
  });
  const second = share.run("a", () => order.push(2));
  await expect(failed).rejects.toThrow("no");
  await second;
  expect(order).toEqual([1, 2]);
});

test("work that would wait too long is refused", async () => {
  const clock = stoppedClock();
  const share = new WorkShare(OPTIONS, {
    ...clock,
    wait: async (ms) => {
      clock.pass(ms);
      share.saw("b");
    },
  });
  share.saw("b");
  share.charge("a", 10_000);
  await expect(share.run("a", () => undefined)).rejects.toMatchObject({
    code: "rate_limited",
    details: { retryAfterMs: expect.any(Number) },
  });
});

test("work is refused at once if its debt exceeds the patience", async () => {
  const clock = stoppedClock();
  const share = new WorkShare(OPTIONS, clock);
  share.saw("b");
  share.charge("a", 10_000);
  await expect(share.run("a", () => undefined)).rejects.toMatchObject({ code: "rate_limited" });
  expect(clock.now()).toBe(0);
});

test("waiting for the tenant's own earlier work counts", async () => {
  const clock = stoppedClock();
  const share = new WorkShare(OPTIONS, {
    ...clock,
    wait: async (ms) => {
      clock.pass(ms);
      share.saw("b");
    },
  });
  share.saw("b");
  share.charge("a", 200);
  // Each costs 400 ms of waiting: the first waits 600 ms for the debt, the second 400 more.
  const runs = Array.from({ length: 4 }, () => share.run("a", () => clock.pass(100)));
  const ends = await Promise.allSettled(runs);
  expect(ends.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "rejected",
  ]);
  expect(clock.now()).toBeLessThanOrEqual(OPTIONS.patienceMs + 100);
});

test("a tenant in debt waits until it is paid, or until the maximum wait", async () => {
  const clock = stoppedClock();
  const wait = async (ms: number) => {
    clock.pass(ms);
    share.saw("b");
  };
  const share = new WorkShare(OPTIONS, { ...clock, wait });
  share.saw("b");
  share.charge("a", 100);
  await share.settle("a");
  expect(clock.now()).toBe(200);
  share.charge("a", 10_000);
  await share.settle("a");
  expect(clock.now()).toBe(1_200);
});
