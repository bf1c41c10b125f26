import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { excerptRange, focusOf, headOf, isRun } from "./display.ts";

/** Words of at most 12 letters, and what may be between them. */
const word = fc.stringMatching(/^[a-zé_\d𝔘]{1,12}$/u);
const between = fc.constantFrom(" ", ", ", "\n", " — ", "/", " 😀 ", " 👩‍👩‍👧 ");
const texts = fc
  .array(fc.tuple(word, between), { minLength: 1, maxLength: 120 })
  .map((pairs) => pairs.flat().join(""));

/** Independent of the code: the letter before a cut and the one after it. */
function isWithinWord(text: string, at: number): boolean {
  return /[\p{L}\p{N}_]$/u.test(text.slice(0, at)) && /^[\p{L}\p{N}_]/u.test(text.slice(at));
}

describe("an excerpt", () => {
  test("of any text has any run that fits, and is cut between words", () => {
    const lengths = fc.integer({ min: 24, max: 400 });
    fc.assert(
      fc.property(texts, texts, texts, lengths, (before, run, after, length) => {
        const text = before + run + after;
        const match = { start: before.length, end: before.length + run.trimEnd().length };
        const { start, end } = excerptRange(text, [match], length, Math.floor(length / 3));
        expect(end - start).toBeLessThanOrEqual(length);
        if (match.end - match.start > length - 24) return;
        expect(text.slice(start, end)).toContain(text.slice(match.start, match.end));
        expect([isWithinWord(text, start), isWithinWord(text, end)]).toEqual([false, false]);
      }),
      { numRuns: 300 },
    );
  });

  test("is around a run rather than around more words", () => {
    const text = `${"lock ".repeat(9)}${"filler ".repeat(99)}the lock is held`;
    const locks = [...text.matchAll(/lock(?= lock)/g)].map(({ index }) => ({
      start: index,
      end: index + 4,
    }));
    const run = { start: text.indexOf("the lock"), end: text.length };
    expect(focusOf(text, locks, 100).start).toBe(0);
    expect(focusOf(text, [...locks, run], 100)).toEqual(run);
    expect([isRun(text, run), isRun(text, { start: 0, end: 4 })]).toEqual([true, false]);
  });

  test("of a word that is longer than it is a part of the word", () => {
    const text = "x".repeat(1_000);
    expect(excerptRange(text, [{ start: 500, end: 501 }], 100, 30)).toEqual({
      start: 470,
      end: 570,
    });
  });
});

test("the head of a text ends with a word, and not within a character", () => {
  expect(headOf("one two three", 9)).toBe("one two");
  expect(headOf("one two", 7)).toBe("one two");
  fc.assert(
    fc.property(texts, fc.integer({ min: 24, max: 200 }), (text, length) => {
      const head = headOf(text, length);
      expect(text.startsWith(head)).toBe(true);
      expect(head.length).toBeGreaterThan(Math.min(text.length, length) - 25);
      expect(isWithinWord(text, head.length)).toBe(false);
      expect(head.isWellFormed()).toBe(true);
    }),
    { numRuns: 200 },
  );
});
