import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MatchRange, matchFinder } from "../analysis/find-matches.ts";
import { cutSnippet, MAX_SNIPPET_BYTES } from "./snippet.ts";

function matchesOf(text: string, word: string): MatchRange[] {
  return matchFinder(new Set([word]), [], "simple")(text);
}

describe("a snippet", () => {
  test("is the whole text where that fits", () => {
    const text = "é".repeat(512);
    expect(cutSnippet(text, [])).toEqual({ text, truncated: false, matches: [] });
    expect(cutSnippet(`${text}x`, []).truncated).toBe(true);
  });

  test("has the match in its middle", () => {
    const text = `${"left ".repeat(1_000)}needle${" right".repeat(1_000)}`;
    const { text: cut, matches, truncated } = cutSnippet(text, matchesOf(text, "needle"));
    const [match = { start: 0, end: 0 }] = matches;
    expect(truncated).toBe(true);
    expect(cut.slice(match.start, match.end)).toBe("needle");
    expect(Math.abs(match.start - (cut.length - match.end))).toBeLessThan(2);
  });

  test("is where matches are densest", () => {
    const gap = " filler".repeat(500);
    const text = `needle${gap} needle needle needle${gap} needle`;
    expect(cutSnippet(text, matchesOf(text, "needle")).matches).toHaveLength(3);
  });

  test("is cut inside a match that is longer than it", () => {
    const text = "x".repeat(5_000);
    const cut = cutSnippet(text, [{ start: 0, end: text.length }]);
    expect(cut.text).toHaveLength(MAX_SNIPPET_BYTES);
  });

  test("starts with the text where nothing matches", () => {
    const text = `begin ${"😀".repeat(1_000)}`;
    expect(cutSnippet(text, []).text.startsWith("begin 😀")).toBe(true);
  });
});

test("for any text, a snippet fits, is well formed, and shows a match", () => {
  const piece = fc.constantFrom(
    "a ",
    "needle ",
    "é",
    "数",
    "😀",
    "👩‍👩‍👧 ",
    "word ",
    "\n",
    "\u0301",
  );
  const texts = fc
    .array(fc.tuple(piece, fc.integer({ min: 1, max: 300 })), { minLength: 1, maxLength: 12 })
    .map((pieces) => pieces.map(([text, times]) => text.repeat(times)).join(""));
  fc.assert(
    fc.property(texts, fc.integer({ min: 32, max: MAX_SNIPPET_BYTES }), (text, limit) => {
      const found = matchesOf(text, "needle");
      const snippet = cutSnippet(text, found, limit);
      expect(Buffer.byteLength(snippet.text)).toBeLessThanOrEqual(limit);
      expect(snippet.text.isWellFormed()).toBe(true);
      expect(text).toContain(snippet.text);
      expect(snippet.truncated).toBe(snippet.text !== text);
      // Maximal: one more code point would not fit.
      if (snippet.truncated) expect(Buffer.byteLength(snippet.text)).toBeGreaterThan(limit - 4);
      expect(snippet.matches.length > 0).toBe(found.length > 0);
      for (const { start, end } of snippet.matches) {
        expect(snippet.text.slice(start, end)).toBe("needle");
      }
    }),
    { numRuns: 300 },
  );
});
