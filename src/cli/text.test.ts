import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clean, clip, oneLine, widthOf, wrapLine } from "./text.ts";

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

describe("wrapLine", () => {
  test("breaks between words, and indents further lines", () => {
    expect(wrapLine("  asked #0: why does it run twice", 18)).toEqual([
      "  asked #0: why",
      "      does it run",
      "      twice",
    ]);
    expect(wrapLine("  ran make", 10)).toEqual(["  ran make"]);
    expect(wrapLine("a very/long/path here", 6)).toEqual(["a", "    very/long/path", "    here"]);
  });

  test("changes no line behind a pipe", () => {
    expect(wrapLine("a  b   c", Number.POSITIVE_INFINITY)).toEqual(["a  b   c"]);
  });

  test("keeps every word, and exceeds its columns only for one word", () => {
    const word = fc
      .string({ unit: "grapheme-ascii", minLength: 1 })
      .map((text) => text.replaceAll(" ", "-"));
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 20, max: 90 }), (words, columns) => {
        const lines = wrapLine(words.join(" "), columns);
        expect(lines.join(" ").split(/ +/).filter(Boolean)).toEqual(words);
        for (const line of lines) {
          if (line.trim().includes(" ")) expect(widthOf(line)).toBeLessThanOrEqual(columns);
        }
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
