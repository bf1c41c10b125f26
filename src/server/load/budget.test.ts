import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

const LIMITS = {
  perTenant: { requests: 2, bytes: 100 },
  perProcess: { requests: 3, bytes: 150 },
};

const tooMuch = expect.objectContaining({
  code: "rate_limited",
  details: expect.objectContaining({ retryAfterMs: 1_000 }),
});
const busy = expect.objectContaining({
  code: "store_busy",
  details: expect.objectContaining({ retryAfterMs: 1_000 }),
});

/** The error that `action` throws. */
function failure(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}

test("a tenant at its limit is refused, and no other", () => {
  const budget = new Budget(LIMITS);
  const first = budget.enter("a");
  budget.enter("a");
  expect(failure(() => budget.enter("a"))).toEqual(tooMuch);
  budget.enter("b");
  expect(failure(() => budget.enter("b"))).toEqual(busy);
  first.leave();
  first.leave();
  budget.enter("b");
  expect(budget.used.requests).toBe(3);
});

test("bytes are counted while a body is held, and released with it", () => {
  const budget = new Budget(LIMITS);
  const [mine, other] = [budget.enter("a"), budget.enter("b")];
  mine.hold(40);
  mine.hold(100);
  expect(failure(() => mine.hold(101))).toEqual(tooMuch);
  expect(failure(() => other.hold(51))).toEqual(busy);
  other.hold(50);
  mine.hold(10);
  other.hold(100);
  mine.leave();
  other.leave();
  expect(budget.used).toEqual({ requests: 0, bytes: 0 });
  // Bytes held after the end are not counted.
  mine.hold(10);
  expect(budget.used).toEqual({ requests: 0, bytes: 0 });
});
