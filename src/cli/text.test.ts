import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clean, clip, oneLine, widthOf } from "./text.ts";

describe("widthOf", () => {
  test.each([
    ["abc", 3],
    ["naïve", 5],
    ["e\u0301", 1],
    ["日本", 4],
    ["🕐", 2],
    ["👩‍👩‍👧", 2],
  ])("gives %s the columns that it takes", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });
});

describe("clip", () => {
  test("cuts between characters, with an ellipsis", () => {
    expect(clip("abcdef", 4)).toBe("abc…");
    expect(clip("abcd", 4)).toBe("abcd");
    expect(clip("日本語", 4)).toBe("日…");
  });

  test("never exceeds its columns", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, n) => {
        expect(widthOf(clip(text, n))).toBeLessThanOrEqual(n);
      }),
    );
  });
});

describe("clean", () => {
  test("makes control sequences visible", () => {
    expect(clean("\u001b[2J\u0007 \u009b31m \u202Eabc")).toBe("␛[2J␇ \\u009b31m \\u202eabc");
  });

  test("keeps line breaks and tabs", () => {
    expect(clean("a\r\n\tb\n")).toBe("a\n\tb\n");
  });

  test("lets no control character through", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(clean(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });
});

test("oneLine joins lines for a table", () => {
  expect(oneLine(" a\n\n  b\tc ")).toBe("a b c");
});
