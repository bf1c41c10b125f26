import { afterEach, expect, test, vi } from "vitest";
import { lastSeenIn, rememberSeen } from "./last-seen.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

function storage(kept: string | null) {
  const items = { kept };
  vi.stubGlobal("localStorage", {
    getItem: () => items.kept,
    setItem: (_key: string, value: string) => {
      items.kept = value;
    },
  });
}

test("the message at which a session was left is kept", () => {
  storage(null);
  rememberSeen("a", 7);
  rememberSeen("b", 9);
  rememberSeen("a", 8);
  expect(["a", "b", "c"].map(lastSeenIn)).toEqual([8, 9, 0]);
});

test.each(["{", "1", "[null, 1, [2]]", '[["a", "7"], null]'])(
  "of storage with %s nothing is known",
  (kept) => {
    storage(kept);
    expect(lastSeenIn("a")).toBe(0);
    rememberSeen("a", 7);
    expect(lastSeenIn("a")).toBe(7);
  },
);

test("where storage is blocked or full, nothing is kept, and who leaves a session goes on", () => {
  const refuse = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: refuse });
  expect(() => rememberSeen("a", 7)).not.toThrow();
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse });
  expect(() => rememberSeen("a", 7)).not.toThrow();
  expect(lastSeenIn("a")).toBe(0);
});
