import { describe, expect, test } from "vitest";
import { ProblemLog } from "../problems.ts";
import { LongText, type TextLimits } from "./long-text.ts";

const LIMITS: TextLimits = { whole: 12, cut: 4 };

function collect(lines: readonly string[], limits: TextLimits = LIMITS) {
  const problems = new ProblemLog();
  const text = new LongText(problems, limits);
  let held = 0;
  for (const [i, line] of lines.entries()) {
    text.add(line, 7 + i);
    held = Math.max(held, text.held);
  }
  return { text, held, taken: text.take(), problems: problems.first };
}

describe("a text that is collected line by line", () => {
  test.each([
    ["nothing", [], ""],
    ["a line", ["one"], "one"],
    ["lines, without blank lines around them", ["", " one", "", "two "], "one\n\ntwo"],
    ["as much as there is room for", ["12345", "123456"], "12345\n123456"],
  ])("is kept whole: %s", (_, lines, expected) => {
    const { taken, problems } = collect(lines);
    expect([taken, problems]).toEqual([expected, []]);
  });

  test.each([
    ["by one character", ["12345", "1234567"], "1234\n[cut: 9 more characters]", 13],
    ["in its first line", ["1234567890123"], "1234\n[cut: 9 more characters]", 13],
    ["by many lines", Array(5000).fill("ab"), "ab\na\n[cut: 14995 more characters]", 14_999],
    ["inside of a character", ["abc😀", "12345678"], "abc\uFFFD\n[cut: 10 more characters]", 14],
  ])("that is too long %s is cut, with a mark", (_, lines, expected, length) => {
    const { taken, problems, held } = collect(lines);
    expect(taken).toBe(expected);
    const message = `a message of ${length} characters was shortened`;
    expect(problems).toEqual([{ line: 7, code: "entry_cut", message }]);
    expect(held).toBeLessThanOrEqual(LIMITS.whole + 1);
  });

  test("of many short lines is joined in order", () => {
    const lines = Array.from({ length: 3000 }, (_, i) => String(i));
    expect(collect(lines, { whole: 100_000, cut: 1 }).taken).toBe(lines.join("\n"));
  });

  test("restarts after take, and is cleaned before its mark is added", () => {
    const { text } = collect(["1234567890123"]);
    text.add("a", 1);
    expect(text.take()).toBe("a");
    text.add("abcdefghijklmn", 1);
    expect(text.take((kept) => kept.toUpperCase())).toBe("ABCD\n[cut: 10 more characters]");
  });
});
