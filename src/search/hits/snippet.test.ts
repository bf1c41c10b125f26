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
    expect(Math.abs(match.start - (cut.length - match.end))).toBeLessThan("right ".length);
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
  "x",
);
const texts = fc
  .array(fc.tuple(piece, fc.integer({ min: 1, max: 300 })), { minLength: 1, maxLength: 12 })
  .map((pieces) => pieces.map(([text, times]) => text.repeat(times)).join(""));
const limits = fc.integer({ min: 32, max: MAX_SNIPPET_BYTES });

test("for any text, a snippet fits, is well formed, and shows a match", () => {
  fc.assert(
    fc.property(texts, limits, (text, limit) => {
      const found = matchesOf(text, "needle");
      const snippet = cutSnippet(text, found, limit);
      expect(Buffer.byteLength(snippet.text)).toBeLessThanOrEqual(limit);
      expect(snippet.text.isWellFormed()).toBe(true);
      expect(text).toContain(snippet.text);
      expect(snippet.truncated).toBe(snippet.text !== text);
      expect(snippet.matches.length > 0).toBe(found.length > 0);
      for (const { start, end } of snippet.matches) {
        expect(snippet.text.slice(start, end)).toBe("needle");
      }
    }),
    { numRuns: 300 },
  );
});

test("for any text and any run of words in it, a snippet begins with a word and has the run", () => {
  const words = fc.constantFrom("fatal:", "not", "a", "git", "repository", "naïve", "(or", "𝔘𝔫𝔦");
  const runs = fc.array(words, { minLength: 2, maxLength: 6 }).map((run) => run.join(" "));
  // Many matches before and after the run must not draw the snippet away from it.
  const sides = fc.array(fc.oneof(piece, words), { maxLength: 400 }).map((all) => all.join(" "));
  fc.assert(
    fc.property(sides, runs, sides, limits, (before, run, after, limit) => {
      const text = `${before} ${run} ${after}`;
      const start = before.length + 1;
      const others = matchesOf(text, "not").filter(
        (each) => each.end <= start || each.start >= start + run.length,
      );
      const matches = [...others, { start, end: start + run.length }];
      const snippet = cutSnippet(
        text,
        matches.sort((a, b) => a.start - b.start),
        limit,
      );
      expect(Buffer.byteLength(snippet.text)).toBeLessThanOrEqual(limit);
      const shown = snippet.matches.map((each) => snippet.text.slice(each.start, each.end));
      if (Buffer.byteLength(run) <= limit) expect(shown).toContain(run);
      else expect(run.startsWith(snippet.text)).toBe(true);
      // By another definition than the code's: an independent look at both ends.
      const at = text.indexOf(snippet.text);
      if (Buffer.byteLength(run) > limit || /[^\s]{64}/.test(text)) return;
      expect(
        /[\p{L}\p{N}\p{M}]$/u.test(text.slice(0, at)) && /^[\p{L}\p{N}\p{M}]/u.test(snippet.text),
      ).toBe(false);
      const rest = text.slice(at + snippet.text.length);
      expect(/[\p{L}\p{N}\p{M}]$/u.test(snippet.text) && /^[\p{L}\p{N}\p{M}]/u.test(rest)).toBe(
        false,
      );
    }),
    { numRuns: 300 },
  );
});
