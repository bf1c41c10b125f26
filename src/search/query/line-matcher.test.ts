import { describe, expect, test } from "vitest";
import { isSubject, lineMatcher } from "./line-matcher.ts";

const has = (text: string, typed: string, kind: "literal" | "words") =>
  lineMatcher(typed)(text, kind);

describe("a typed line", () => {
  test("is literal with its signs, apart from case, white space and colours", () => {
    const text = "x\n\u001b[0;31mError:\u001b[0m  not\n\ta [git] repo*\n";
    for (const typed of ["error: not a [git] repo*", "Not a [GIT]", "[git]  repo*"]) {
      expect([typed, has(text, typed, "literal")]).toEqual([typed, true]);
    }
    for (const typed of ["error not a [git]", "not a (git)", "ot a [git]", "a [git] rep"]) {
      expect([typed, has(text, typed, "literal")]).toEqual([typed, false]);
    }
  });

  test("is there by its words, whatever is between them", () => {
    const text = "Error:\tnot a [git] repo.";
    expect(has(text, "error not a git", "words")).toBe(true);
    expect(has(text, "error: a git", "words")).toBe(false);
    expect(has("terror: not a git", "error not a git", "words")).toBe(false);
  });

  test("is looked for in every place, until one counts", () => {
    const text = "one two\nthree one two";
    const places: string[] = [];
    lineMatcher("one two")(text, "words", (_, from, to) => {
      places.push(text.slice(from, to + 1));
      return false;
    });
    expect(places).toEqual(["one two\n", "one two"]);
  });

  test("takes linear time in texts of signs and spaces", () => {
    const text = `${"a - ".repeat(20_000)}${" ".repeat(50_000)}${"a".repeat(50_000)}`;
    const typed = `${"a - ".repeat(30)}b`;
    expect([has(text, typed, "literal"), has(text, typed, "words")]).toEqual([false, false]);
  });
});

test("a subject is behind a hash, below the date of a log, or between a number and a column", () => {
  const isOne = (text: string, typed: string) => {
    const from = text.indexOf(typed);
    return isSubject(text, from, from + typed.length);
  };
  for (const text of [
    "1f2e3d4 fix it",
    "* 1f2e3d4 (HEAD) fix it",
    "[main 1234567] fix it",
    "Date:   Mon May 4\n\n    fix it",
    "#12\tfix it\tana:fix",
  ]) {
    expect([text, isOne(text, "fix it")]).toEqual([text, true]);
  }
  for (const text of [
    "fix it",
    "1f2e3d4\nfix it",
    "defaced: fix it",
    "12: fix it",
    "12\tfix it",
    "Date: now\nfix it",
  ]) {
    expect([text, isOne(text, "fix it")]).toEqual([text, false]);
  }
});
