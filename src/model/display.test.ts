import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { excerptRange, focusOf, headOf, isRun, shellWord } from "./display.ts";

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

describe("a word of a shell", () => {
  const HOSTILE = "/srv/\u001b]0;it's\u0007\u009b31m\n\u202e7!\\";

  test.each([
    ["/srv/shop", "/srv/shop"],
    ["", "''"],
    ["/srv/it's", "'/srv/it'\\''s'"],
    ["C:\\Users\\a b", "'C:\\Users\\a b'"],
    ["/srv/\u001b[31m", "$'/srv/\\033[31m'"],
    [HOSTILE, String.raw`$'/srv/\033]0;it\047s\007\302\23331m\012\342\200\2567\041\134'`],
  ])("%j is quoted", (text, word) => {
    expect(shellWord(text)).toBe(word);
  });

  test.each([
    ["C:\\Users\\ana", "C:\\Users\\ana"],
    ["C:\\a b", "'C:\\a b'"],
    ["C:\\a';calc;'", "'C:\\a'';calc;'''"],
    ["C:\\a\u2019;calc", "'C:\\a\u2019\u2019;calc'"],
    ["C:\\$x\u001b'", "('C:\\$x'+[char]27+'''')"],
  ])("%j is quoted for PowerShell", (text, word) => {
    expect(shellWord(text, "win32")).toBe(word);
  });

  const text = fc.string({ unit: "binary" });

  test("has no control character, on any platform", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("linux", "win32"), (any, platform) => {
        const word = shellWord(any, platform);
        expect(word).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  const shells = ["bash", "zsh"].filter((name) => spawnSync(name, ["-c", ":"]).status === 0);

  // Not every machine has both, and Windows has neither.
  test.skipIf(shells.length === 0)("is the same text in a shell", () => {
    const texts = [HOSTILE, ...fc.sample(text, 300)].map((any) => any.replaceAll("\0", ""));
    const script = `printf '%s\\0' ${texts.map((any) => shellWord(any)).join(" ")}`;
    for (const shell of shells) {
      const ran = spawnSync(shell, ["-c", script], { encoding: "utf8" });
      expect(ran.stdout.split("\0").slice(0, -1)).toEqual(texts);
    }
  });
});
