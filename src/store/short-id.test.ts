import { describe, expect, test } from "vitest";
import { chooseShortId, ownIdOf, shortIdCandidates } from "./session-ref.ts";

const UUID = "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c";
const ID = "01JZ8Q4V7N0000000000000000";
const choose = (ownId: string | null, ...taken: string[]) =>
  chooseShortId(shortIdCandidates(ID, ownId), new Set(taken)) ?? "";

describe("a short id", () => {
  test("is a prefix of the agent's own id, lengthened until it is free", () => {
    expect(choose(UUID)).toBe("0f3c9a12");
    expect(choose(UUID, "0f3c9a12")).toBe("0f3c9a12-7");
    expect(choose(UUID, "0f3c9a12", "0f3c9a12-7")).toBe("0f3c9a12-77");
    expect(choose("abcd")).toBe("abcd");
  });

  test("is a prefix of an id that a caller chose", () => {
    expect(shortIdCandidates("review-1", null)[0]).toBe("review-1");
    expect(shortIdCandidates("review-12", null).slice(0, 2)).toEqual(["review-1", "review-12"]);
  });

  test("gets a hash suffix when the agent's whole id is taken", () => {
    const taken = Array.from({ length: UUID.length }, (_, i) => UUID.slice(0, i + 1));
    expect(choose(UUID, ...taken)).toMatch(/^0f3c9a12-[0-9a-z]{4}$/);
    expect(choose("abcd", "abcd")).toMatch(/^abcd-[0-9a-z]{4}$/);
  });

  test.each([[null], ["1"], ["a b c d e f"], ["/srv/shop/a.jsonl"]])(
    "falls back to 8 letters of a hash for %s",
    (own) => {
      const short = choose(own);
      expect(short).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
      expect(choose(own, short)).toMatch(new RegExp(`^${short}[0-9a-z]$`));
    },
  );

  test("the number of candidates is bounded for any agent's id", () => {
    expect(shortIdCandidates(ID, "x".repeat(200)).length).toBeLessThan(50);
  });
});

test.each([
  [{ key: `w:p:${UUID}`, workstation: "w", projectId: "p", source: "codex" }, UUID],
  [{ key: `codex:${UUID}`, source: "codex" }, UUID],
  [{ key: "w:p:file-0011", workstation: "w", projectId: "p" }, null],
  [{ key: "something else" }, null],
  [{}, null],
])("the agent's own id in %o is %s", (origin, own) => {
  expect(ownIdOf(origin)).toBe(own);
});
