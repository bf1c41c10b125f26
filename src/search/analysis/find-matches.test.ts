import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyze, type Language } from "./analyze.ts";
import { matchFinder, type RunWords } from "./find-matches.ts";

/** `«»` in `expected` mark the matches of `terms`. */
function check(
  expected: string,
  terms: string[],
  prefixes: string[] = [],
  runs: RunWords[] = [],
): void {
  const text = expected.replace(/[«»]/g, "");
  const ranges = matchFinder(new Set(terms), prefixes, "english", runs)(text);
  let marked = text;
  for (const { start, end } of ranges.reverse()) {
    marked = `${marked.slice(0, start)}«${marked.slice(start, end)}»${marked.slice(end)}`;
  }
  expect(marked).toBe(expected);
}

describe("the words that match", () => {
  test("finds words in their written form", () => {
    check("The «locks» were «Locked».", ["lock"]);
    check("a «Café», a «cafe\u0301»", ["cafe"]);
  });

  test("finds parts and wholes, and joins overlapping ranges", () => {
    check("call foo«Bar» and foo_«bar»", ["bar"]);
    check("call «fooBar» and «foo_bar»", ["bar", "foobar"]);
  });

  test("finds letters of dense scripts", () => {
    check("我们«不»知道", [], ["不"]);
    check("我们知道«不»", [], ["不"]);
    check("使用«数据库»", ["数据", "据库"]);
  });

  test("finds a run as one range, its stop words included, in each of its lines", () => {
    const run = ["not", "a", "git", "repositori"];
    check("«git» is «not a git repository» or a «repository»", ["git", "repositori"], [], [run]);
    check("so «not a»\n  «git repository»", ["git"], [], [run]);
    check("not a «git» or repository", ["git"], [], [run]);
    check("«not [a] git-repository»", [], ["x"], [run]);
    check("«a b c» b, a b", [], [], [["a", null, "c"]]);
  });

  test("finds prefixes", () => {
    check("«compaction» and «compactor», not impact", [], ["compact"]);
  });

  test("keeps offsets right after characters that fold to other lengths", () => {
    check("ﬁ ㍿ 👍🏽 İ ß «lock»", ["lock"]);
  });

  test("finds every term of any text at its origin", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "fooBar",
        "HTTPServer",
        "src/store/index.ts",
        "v22.18.0",
        "2023-05-08T10:00Z",
        "don't",

        "4c7c3b9aa1",
        "数据库",
        "한국어는",
        "ไทย",
        "1,000,000",
        "c++",
        "ﬁx",
        "㍿",
        "👍🏽",
        "é",
        "ǅ",
        "e\u0301",
        "\u0301",
        "ｶﾞ",
        "_",
        "-",
        ".",
        "/",
        "'s",
        "8th",
        "İ",
        "K",
        "™",
        "\uD83D",
      ),
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.string({ unit: "grapheme", maxLength: 6 }),
    );
    const texts = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
    const languages = fc.constantFrom<Language>("english", "simple");
    fc.assert(
      fc.property(texts, languages, (text, language) => {
        const terms = termsOf(text, language);
        for (const term of terms) {
          const ranges = matchFinder(new Set([term]), [], language)(text);
          const found = ranges.some(({ start, end }) =>
            termsOf(text.slice(start, end), language).has(term),
          );
          expect(found, `${term} in ${JSON.stringify(text)}`).toBe(true);
          expect(term.length).toBeGreaterThan(0);
          expect(term.length).toBeLessThanOrEqual(64);
        }
      }),
      { numRuns: 600 },
    );
  });
});

function termsOf(text: string, language: Language): Set<string> {
  const terms = new Set<string>();
  let last = 0;
  const next = analyze(text, 0, language, (term, position) => {
    terms.add(term);
    last = Math.max(last, position + 1);
  });
  expect(next).toBe(last);
  return terms;
}
