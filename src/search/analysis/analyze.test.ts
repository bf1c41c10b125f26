import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyze, analyzerVersion, analyzeWords, type Language } from "./analyze.ts";
import { mayHaveData } from "./name.ts";

function termsOf(text: string, language: Language = "english"): string[] {
  const terms: string[] = [];
  analyze(text, 0, language, (term) => terms.push(term));
  return terms;
}

/** Whether the terms of `text` include each of `expected`. */
function check(text: string, ...expected: string[]): void {
  expect(termsOf(text)).toEqual(expect.arrayContaining(expected));
}

/** Whether both texts have a term in common. */
function meet(one: string, other: string): boolean {
  const terms = new Set(termsOf(one));
  return termsOf(other).some((term) => terms.has(term));
}

describe("words", () => {
  test("are folded to lower case without accents", () => {
    expect(termsOf("Café ÉCOLE naïve Straße", "simple")).toEqual([
      "cafe",
      "ecole",
      "naive",
      "strasse",
    ]);
    expect(termsOf("Ἀθῆναι ΟΔΟΣ Ёлка йод", "simple")).toEqual(["αθηναι", "οδοσ", "елка", "йод"]);
  });

  test("are the same in NFC and NFD, in full and half width", () => {
    for (const text of ["é", "Ñandú", "ガード", "한국", "й"]) {
      expect(termsOf(text.normalize("NFD"))).toEqual(termsOf(text.normalize("NFC")));
    }
    expect(termsOf("ＡＢＣ１２３ ﬁx ｶﾞ")).toEqual(termsOf("ABC123 fix ガ"));
  });

  test("keep combining marks that are letters in their script", () => {
    expect(termsOf("हिन्दी")).toEqual(["हिन्दी".normalize("NFKC")]);
    expect(meet("が", "か")).toBe(false);
  });

  test("ignore joiners, soft hyphens and selectors", () => {
    expect(termsOf("data\u00ADbase \uFEFFlock\u200D")).toEqual(["databas", "lock"]);
  });

  test("keep a negation written as n't", () => {
    expect(termsOf("don't can't won’t")).toEqual(["do", "not", "can", "not", "will", "not"]);
    expect(termsOf("Ana's we'll I'm")).toEqual(["ana", "we", "i"]);
    expect(termsOf("l'heure d'été", "simple")).toEqual(["l", "heure", "d", "ete"]);
  });

  test("include emoji", () => {
    expect(termsOf("ship it 🚀👍🏽")).toEqual(["ship", "it", "🚀", "👍"]);
    // Only what Unicode 17 calls an emoji, on every runtime.
    expect(termsOf("ship ★ it ☉♔ ❤ ⭐ 🇫")).toEqual(["ship", "it", "❤", "⭐", "🇫"]);
  });

  test("count positions from a given start", () => {
    const found: [string, number][] = [];
    const next = analyze("run fooBar now", 10, "english", (term, at) => found.push([term, at]));
    expect(next).toBe(14);
    expect(found.sort((a, b) => a[1] - b[1])).toEqual([
      ["run", 10],
      ["foo", 11],
      ["foobar", 11],
      ["bar", 12],
      ["now", 13],
    ]);
  });
});

describe("names", () => {
  test("are found whole and by part, in any notation", () => {
    for (const name of ["fooBar", "FooBar", "foo_bar", "foo-bar", "foo.bar", "FOO_BAR"]) {
      expect(termsOf(name).sort(), name).toEqual(["bar", "foo", "foobar"]);
    }
    check("HTTPServer", "http", "server", "httpserver");
    check("parseHTTPResponse2xx", "pars", "http");
    check("utf8Decode", "utf", "8", "decod", "utf8decode");
    check("__dirname --dry-run", "dirnam", "dry", "run", "dryrun");
    check("addUsers", "user", "addusers");
    check("SQLite", "sqlite");
    expect(termsOf("URLs IDs")).toEqual(["url", "id"]);
  });

  test("of paths are found by segment too", () => {
    check("see src/store/index.ts:42", "src", "store", "index", "ts", "indexts", "42");
    check("src/store/index.ts", "srcstoreindexts");
    check("C:\\x\\y C:\\\\work\\\\main.go", "x", "y", "xy", "work", "maingo");
    check("@scope/pkg-name", "scope", "pkg", "pkgname", "scopepkgname");
  });

  test("of errors, versions, issues and addresses", () => {
    check("spawn E2BIG", "e2big");
    check("ERR_MODULE_NOT_FOUND", "errmodulenotfound", "modul", "not", "found");
    check("TS2345: no", "ts2345", "ts", "2345");
    check("node v22.18 and 1.2.3", "22.18", "v22.18", "1.2.3", "18");
    check("fixes #1234", "1234");
    check("ana@example.com", "anaexamplecom", "ana", "exampl", "examplecom");
    check("https://example.com/a?b=c#d", "http", "examplecom", "a", "b", "c", "d");
    check("C++ and C#", "c++", "c#", "c");
  });

  test("of commits are also indexed by their first seven digits", () => {
    const hash = "4c7c3b94d5e6f708192a3b4c5d6e7f8091a2b3c4";
    expect(termsOf(hash)).toEqual([hash, "4c7c3b9"]);
    expect(meet(hash, "4c7c3b9")).toBe(true);
    expect(meet(hash, hash.slice(0, 10).toUpperCase())).toBe(true);
  });

  test("next to other scripts are separate", () => {
    check("使用SQLite存储", "sqlite", "使用", "存储");
  });
});

describe("long tokens", () => {
  test("are cut to 64 code units, in text and query alike", () => {
    const long = "x".repeat(70);
    expect(termsOf(long)).toEqual(["x".repeat(64)]);
    expect(meet(long, `${long} more`)).toBe(true);
    expect(termsOf("𐐨".repeat(40))[0]?.length).toBe(64);
    expect(termsOf(`x${"𐐨".repeat(40)}`)[0]?.length).toBe(63);
  });

  test("of encoded data give one term", () => {
    const data = "aGVsbG8gd29ybGQh+/".repeat(100);
    expect(termsOf(`base64,${data} end`).slice(-2)).toEqual([
      data.toLowerCase().slice(0, 64),
      "end",
    ]);
    expect(termsOf("aGVsbG8gd29ybGQhIQaBcDeFg")).toHaveLength(1);
  });

  test("that are names are found by part if the whole is too long", () => {
    const path = `${"deep_folder/".repeat(10)}file.ts`;
    const terms = termsOf(path);
    expect(terms).toContain("deepfolder");
    expect(terms).toContain("filets");
    expect(Math.max(...terms.map((term) => term.length))).toBeLessThanOrEqual(64);
  });
});

describe("scripts without spaces", () => {
  test("give overlapping bigrams, and every letter begins a term", () => {
    expect(termsOf("数据库")).toEqual(["数据", "据库", "库"]);
    expect(termsOf("不")).toEqual(["不"]);
    for (const letter of "我们不知道") {
      expect(termsOf("我们不知道").some((term) => term.startsWith(letter))).toBe(true);
    }
    expect(meet("知道", "我们不知道")).toBe(true);
  });

  test("find a Korean stem before its particle", () => {
    expect(meet("데이터", "데이터베이스에서")).toBe(true);
    expect(meet("한국어", "한국어는")).toBe(true);
  });

  test("keep vowels and tones with their letter", () => {
    expect(termsOf("กำลัง").filter((term) => /^\p{M}/u.test(term))).toEqual([]);
    check("ภาษาไทย", "ไท", "ทย");
  });

  test("count letters outside the basic plane as one", () => {
    expect(termsOf("𠀋𠮷")).toEqual(["𠀋𠮷", "𠮷"]);
  });
});

describe("numbers and dates", () => {
  test("are equal with and without separators", () => {
    expect(termsOf("1,000,000")).toEqual(["1000000"]);
    check("1_000_000", "1000000");
    expect(termsOf("1,2,3")).toEqual(["1", "2", "3"]);
  });

  test("match in written and ISO form", () => {
    const iso = new Set(termsOf("2023-05-08"));
    for (const written of ["8 May 2023", "May 8, 2023", "May 8", "8th of may"]) {
      const terms = termsOf(written).filter((term) => term !== "of");
      expect(
        terms.every((term) => iso.has(term)),
        written,
      ).toBe(true);
    }
    expect(termsOf("January Jan Sept.")).toEqual(["jan", "jan", "sep"]);
    check("2023-05-08T13:56:00Z", "2023-05-08", "may", "13", "56");
    check("docs/2026-11-15-search.md", "2026-11-15", "nov", "searchmd");
    check("2026-05", "2026-05", "may");
  });

  test("that are not dates stay numbers", () => {
    check("2023-13-40", "2023-13-40");
    check("1234-05-06", "1234-05-06");
  });
});

test("words of the folded text give the same terms as strings", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ..."Locks URLs IDs fooBar a.b c++ don't 2023-05-08 deadbeef1 日本 ÉCOLE v1.2".split(" "),
    ),
    fc.constantFrom("Sentences.", "naming:", "I", "September", "z".repeat(18), "z".repeat(19)),
    fc.constantFrom("x".repeat(70), "running/tests", "1,000", "HTTPServer", "utf8", "’s", "-"),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(" "));
  fc.assert(
    fc.property(text, fc.constantFrom<Language>("english", "simple"), (each, language) => {
      const expected: unknown[] = [];
      const end = analyze(each, 3, language, (term, position) => expected.push([term, position]));
      const taken: unknown[] = [];
      const after = analyzeWords(each, 3, language, {
        term: (term, position) => taken.push([term, position]),
        word: ({ text: folded, letters }, from, to, position, stem) => {
          const word = String.fromCharCode(...letters.subarray(from, to));
          expect(word).toBe(folded.slice(from, to));
          taken.push([stem(word), position]);
        },
      });
      expect(taken).toEqual(expected);
      expect(after).toBe(end);
    }),
  );
});

test("the version names the analysis and the language", () => {
  expect(analyzerVersion("english")).toBe("3/english");
  expect(analyzerVersion("simple")).toBe("3/simple");
});

test("a run is data from 257 characters on, wherever it begins", () => {
  for (const length of [255, 256, 257, 258, 513]) {
    for (const before of [0, 1, 100, 255, 256, 257, 300]) {
      for (const sign of ["a", "+", "/", "7", "é"]) {
        const text = `${" ".repeat(before)}${sign.repeat(length)} it's short, and so on`;
        expect(mayHaveData(text), `${before} + ${length}`).toBe(length > 256);
      }
    }
  }
});
