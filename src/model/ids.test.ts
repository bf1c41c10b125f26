import { describe, expect, test } from "vitest";
import { BackscrollError } from "./errors.ts";
import { checkId, checkName, checkText, createUlids } from "./ids.ts";

/** Ids of a clock that shows `times` in order, and constant random bytes. */
function idsAt(times: readonly number[], byte = 0): string[] {
  let tick = 0;
  const next = createUlids({
    now: () => times[Math.min(tick++, times.length - 1)] ?? 0,
    random: (bytes) => bytes.fill(byte),
  });
  return times.map(() => next());
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (BackscrollError.is(error)) return `${error.code} ${error.details["field"]}`;
    throw error;
  }
  return "accepted";
}

describe("createUlids", () => {
  test("gives 26 characters of Crockford's alphabet that start with the time", () => {
    const [id] = idsAt([1_469_918_176_385]);
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    // The example of the ULID specification.
    expect(id?.slice(0, 10)).toBe("01ARYZ6S41");
  });

  test("ascend within a millisecond, and when the clock steps back", () => {
    const ids = idsAt([1_000, 1_000, 1_000, 400, 1, 1_000, 1_001, 900]);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("ascend for any number in one millisecond", () => {
    const next = createUlids({ now: () => 7, random: (bytes) => bytes.fill(255) });
    let last = next();
    // More than fit between the greatest start and the end.
    for (let i = 0; i < 1_100_000; i++) {
      const id = next();
      if (id <= last) throw new Error(`${id} is not greater than ${last}`);
      last = id;
    }
    expect(last.slice(0, 10) > "0000000007").toBe(true);
  });

  test("two generators with different randomness never collide", () => {
    expect(idsAt([5], 1)).not.toEqual(idsAt([5], 2));
  });
});

describe("checkId", () => {
  test("accepts characters that are safe in a path and in a URL", () => {
    for (const id of ["a", "01ARYZ6S41TSV4RRFFQ69G5FAV", "channel:team-1.main_2", "9"]) {
      expect(checkId(id, "id")).toBe(id);
    }
  });

  test("refuses path characters, spaces, control characters and non-strings", () => {
    for (const id of [
      "",
      "..",
      "a/b",
      "a\\b",
      "../a",
      "a..b",
      ".a",
      "-a",
      "a b",
      "a\0b",
      "a\n",
      "ä",
      "a%2fb",
      null,
      undefined,
      1,
      {},
      ["a"],
    ]) {
      expect(codeOf(() => checkId(id, "id"))).toBe("invalid_input id");
    }
  });

  test("reports the maximum length", () => {
    expect(checkId("a".repeat(128), "id")).toHaveLength(128);
    expect(codeOf(() => checkId("a".repeat(129), "id"))).toBe("too_large id");
  });
});

describe("checkText and checkName", () => {
  test("keep any well-formed text", () => {
    for (const text of ["", "  ", "žluťoučký 😀", "a\nb\tc", "\u{10ffff}"]) {
      expect(checkText(text, "title")).toBe(text);
    }
  });

  test("refuse text that a column cannot hold on every backend", () => {
    for (const text of ["\0", "a\u0001b", "\ud800", "x\udc00y", 5, null, {}]) {
      expect(codeOf(() => checkText(text, "title"))).toBe("invalid_input title");
    }
  });

  test("count bytes, not characters", () => {
    expect(checkText("é".repeat(256), "name")).toHaveLength(256);
    expect(codeOf(() => checkText("é".repeat(257), "name"))).toBe("too_large name");
    expect(codeOf(() => checkText("abcd", "name", 3))).toBe("too_large name");
  });

  test("a name is not blank", () => {
    for (const name of ["", " ", "\t\n"]) {
      expect(codeOf(() => checkName(name, "actor"))).toBe("invalid_input actor");
    }
  });
});
