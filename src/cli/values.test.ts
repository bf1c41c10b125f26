import { expect, test } from "vitest";
import { defined } from "../model/defined.ts";
import { nearest } from "../model/suggest.ts";
import { toInput } from "./commands/input-options.ts";
import { toCount, toFuture } from "./values.ts";

test("a period reads days whole on either end", () => {
  expect(toInput("recapSessions", { since: "2026-05-04", until: "2026-05-04" })).toEqual({
    since: new Date(2026, 4, 4),
    until: new Date(2026, 4, 5),
  });
  expect(toInput("recapSessions", { until: undefined })).toEqual({});
  for (const text of ["", "tomorrow", "2026-13-01", "5", "7 d"]) {
    expect(() => toInput("recapSessions", { since: text })).toThrow(
      /^--since must be a time such as today/,
    );
  }
});

test("toFuture reads a duration as a time to come, and dates unchanged", () => {
  const before = Date.now();
  const expires = toFuture("2h", "--expires")?.getTime() ?? 0;
  expect(expires - 2 * 3_600_000).toBeGreaterThanOrEqual(before);
  expect(expires - 2 * 3_600_000).toBeLessThanOrEqual(Date.now());
  expect(toFuture("2036-05-04", "--expires")).toEqual(new Date(2036, 4, 4));
  expect(() => toFuture("soon", "--expires")).toThrow(/--expires must be a date.* a duration/);
});

test("toCount refuses anything but a whole number", () => {
  expect(toCount("12", "--limit")).toBe(12);
  for (const text of ["", "-1", "1.5", "1e3", "0x10", " 1"]) {
    expect(() => toCount(text, "--limit")).toThrow(/--limit must be a whole number/);
  }
});

test("defined drops undefined fields", () => {
  expect(defined({ a: 1, b: undefined, c: null })).toEqual({ a: 1, c: null });
});

test("nearest finds a typo, and does not guess", () => {
  const names = ["list", "label", "delete", "doctor"];
  expect(nearest("lst", names)).toBe("list");
  expect(nearest("del", names)).toBe("delete");
  expect(nearest("docter", names)).toBe("doctor");
  expect(nearest("frobnicate", names)).toBeUndefined();
});
