import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BackscrollError } from "../../model/errors.ts";
import { isOutage, keepRunning } from "./outage.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = (message = "the server is away") => new BackscrollError("store_unavailable", message);

/** Starts work that fails with these errors, one after another, and then lasts. */
function start(failures: readonly (readonly [error: unknown, afterMs?: number])[], options = {}) {
  const told: unknown[] = [];
  const stop = new AbortController();
  let starts = 0;
  const work = async () => {
    const [error, afterMs = 0] = failures[starts++] ?? [];
    if (error === undefined) return new Promise<void>(() => undefined);
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    throw error;
  };
  const onError = (error: unknown) => told.push(error);
  const ended = keepRunning(work, { signal: stop.signal, onError, ...options });
  return { told, ended, stop, starts: () => starts };
}

test("work that fails is started again with back-off, and an outage is told once", async () => {
  const reasons = [away("refused"), away("is starting"), away("refused"), away("refused")];
  const { told, starts } = start(reasons.map((error) => [error]));
  await vi.advanceTimersByTimeAsync(999);
  expect(starts()).toBe(1);
  await vi.advanceTimersByTimeAsync(1 + 2_000 + 4_000);
  expect(starts()).toBe(4);
  // The delay has a limit of ten seconds.
  await vi.advanceTimersByTimeAsync(8_000);
  expect([starts(), told]).toEqual([5, [reasons[0]]]);
});

test("another failure is told, and the next one after the work has run for a while", async () => {
  const bug = new Error("a bug");
  const [first, second] = [away(), away()];
  const { told, starts } = start([[first], [bug], [bug], [second, 60_000]]);
  await vi.advanceTimersByTimeAsync(80_000);
  expect([starts(), told]).toEqual([5, [first, bug, second]]);
});

test("it ends with its signal, also while it waits, and with the store", async () => {
  const waiting = start([[away()]]);
  await vi.advanceTimersByTimeAsync(1);
  waiting.stop.abort();
  await waiting.ended;
  const closed = start([[new BackscrollError("store_closed", "closed")]]);
  await closed.ended;
  expect([waiting.told.length, closed.told]).toEqual([1, []]);
});

test("it rejects with failures that do not pass, if told which do", async () => {
  const bug = new Error("a bug");
  const { ended, told } = start([[away()], [bug]], { isPassing: isOutage });
  const rejected = expect(ended).rejects.toBe(bug);
  await vi.advanceTimersByTimeAsync(1_000);
  await rejected;
  expect(told).toHaveLength(1);
});
