import fc from "fast-check";
import { expect, test } from "vitest";
import { analyze, type Language } from "../analysis/analyze.ts";
import { mayHaveData } from "../analysis/name.ts";
import { runConditions } from "./run-conditions.ts";
import { runFinder, type TextRun } from "./text-run.ts";

function find(text: string, source: string, more: Partial<TextRun> = {}): string | undefined {
  const place = runFinder({ text, wholeWords: true, ignoreCase: true, ...more })(source);
  return place && source.slice(place.start, place.end);
}

test.each([
  ["go build", "cargo build", undefined],
  ["go build", "x && go\n  build-x", "go\n  build"],
  ["database IS locked", "SQLite: Database is LOCKED.", "Database is LOCKED"],
  ["typeerror: x", "TypeError: x", undefined],
  ["TypeError", "a.TypeError: x", "TypeError"],
  ["ids", "some IDs", "IDs"],
  ["don", "don't", undefined],
  ["error", "错误error错误", "error"],
  ["error", "erro\u0301error\u00ADs", undefined],
  ["foo", "foo_bar", undefined],
  ["./...", "go test ./...x", "./..."],
  ["İx", "a İx b", "İx"],
  ["", "a", undefined],
])("as whole words, %j in %j is %j", (text, source, found) => {
  expect(find(text, source)).toBe(found);
});

test("within words, a text is found in any case, also in parts of words", () => {
  const within = { wholeWords: false };
  expect(find("rror: X", "TypeError: x", within)).toBe("rror: x");
  expect(find("pr cre", "gh PR  create", within)).toBe("PR  cre");
});

/** Pieces of texts, with everything that the analyzer treats in its own way. */
const PIECES =
  `error Error ERROR TypeError typeerror HTTPServer IDs ids URLs go build builds building
  the a not no re ve ll don't can't Ana's they're foo_bar foo-bar foo.bar fooBar a/b/c C:\\x ana@x.io
  1,000 42 utf8 v1.2 2024-01-15 2024-01-15T10 march aGVsbG8gd29ybGQh deadbee1 cafe\u0301 naïve ẞ İ ﬁ
  错误 エラー ② ½ c# c++ --force $(x) 'q' "q" [x] … — ™ \u00AD \u200D 😀 fooBARs xs`.split(/\s+/);
const piece = fc.constantFrom(...PIECES);
const between = fc.constantFrom(
  " ",
  " ",
  " ",
  "\n",
  "",
  ".",
  "-",
  "_",
  "/",
  ":",
  "'",
  ",",
  "=",
  "+",
);
const lists = fc.array(fc.tuple(piece, between), { minLength: 1, maxLength: 12 });

/** A part of a text, of whole pieces or not, in some case. */
const parts = fc
  .record({
    list: lists,
    from: fc.nat(3),
    count: fc.integer({ min: 1, max: 5 }),
    cut: fc.constantFrom(0, 0, 0, 1, 2),
    form: fc.constantFrom("as it is", "as it is", "small", "capitals"),
  })
  .map(({ list, from, count, cut, form }) => {
    const source = list.flat().join("");
    const pieces = list.slice(from, from + count).flat();
    const text = pieces.slice(0, -1).join("").slice(cut).toWellFormed();
    if (form === "small") return { source, text: text.toLowerCase() };
    return { source, text: form === "capitals" ? text.toUpperCase() : text };
  });

test("wherever a text is found, the index has the words that it requires", () => {
  const languages = fc.constantFrom<Language>("english", "simple");
  fc.assert(
    fc.property(
      parts,
      languages,
      fc.boolean(),
      fc.boolean(),
      ({ source, text }, language, wholeWords, ignoreCase) => {
        const run: TextRun = { text, of: "results", wholeWords, ignoreCase };
        if (mayHaveData(source) || runFinder(run)(source) === undefined) return;
        const terms = new Set<string>();
        analyze(source, 0, language, (term) => terms.add(term));
        for (const group of runConditions(run, language)) {
          const isMet = group.some(
            (each) => each.kind === "terms" && each.terms.every((term) => terms.has(term)),
          );
          expect(isMet, JSON.stringify({ source, text, group })).toBe(true);
        }
      },
    ),
    { numRuns: 5_000 },
  );
});
