import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyze, type Language } from "../analysis/analyze.ts";
import { analyzeQuery } from "./analyze-query.ts";
import { parseQuery } from "./parse-query.ts";
import type { Condition, TermQuery } from "./query.ts";

function ask(
  text: string,
  match: "any" | "all" = "any",
  language: Language = "english",
): TermQuery {
  return analyzeQuery(parseQuery(text, { now: 0, match }), language);
}

function weights(text: string): Record<string, number> {
  return Object.fromEntries(ask(text).scored.map(({ term, weight }) => [term, weight]));
}

describe("scored terms", () => {
  test("are the words of a sentence, with little weight for stop words", () => {
    const found = weights("why does the cron job not run");
    expect(found["cron"]).toBe(1);
    expect(found["not"]).toBe(1);
    expect(found["the"]).toBeLessThan(0.2);
    expect(found["why"]).toBeLessThan(0.2);
  });

  test("have full weight where all are stop words", () => {
    expect(weights("to be or what")).toEqual({ to: 1, be: 1, what: 1 });
    expect(weights("who")).toEqual({ who: 1 });
  });

  test("are a whole identifier, and its parts at a lower weight", () => {
    const found = weights("parseQuery");
    expect(found["parsequery"]).toBe(1);
    expect(found["queri"]).toBeLessThan(1);
    expect(found["queri"]).toBeGreaterThan(0.4);
  });

  test("include the unstemmed word, because wholes are not stemmed", () => {
    expect(weights("listsessions")["listsessions"]).toBe(1);
  });

  test("are bigrams of a dense script; a single letter is a prefix", () => {
    expect(Object.keys(weights("数据库"))).toEqual(["数据", "据库"]);
    expect(ask("不").scored).toEqual([]);
    expect(ask("不").prefixes).toEqual(["不"]);
    expect(ask("what 不").scored[0]?.weight).toBeLessThan(0.2);
  });

  test("exclude excluded words", () => {
    expect(Object.keys(weights("cron -redis"))).toEqual(["cron"]);
  });
});

describe("conditions", () => {
  const required = (text: string, match: "any" | "all" = "any") => ask(text, match).required;
  const terms = (...all: string[]): Condition => ({ kind: "terms", terms: all });
  const phrase = (...all: (string | null)[]): Condition => ({ kind: "phrase", terms: all });

  test("of a phrase are its words in order", () => {
    expect(required('"cron locks"')).toEqual([[phrase("cron", "lock")]]);
    expect(required('"lock"')).toEqual([[terms("lock")]]);
    expect(required('"数据库 index"')).toEqual([[phrase("数据", "据库", null, "index")]]);
    expect(required('"数据库"')).toEqual([[phrase("数据", "据库")]]);
    expect(required('"ok 不"')).toEqual([[terms("ok")]]);
    expect(required("+不")).toEqual([[{ kind: "prefix", prefix: "不" }]]);
  });

  test("of an identifier are its whole, or its parts in order", () => {
    expect(required("+foo_bar")).toEqual([[terms("foobar"), phrase("foo", "bar")]]);
    expect(required("+src/store/index.ts")).toEqual([
      [terms("srcstoreindexts"), phrase("src", "store", "index", "ts")],
    ]);
  });

  test("of a date match a written one", () => {
    expect(required("+2023-05-08")).toEqual([[terms("2023-05-08"), terms("2023", "may", "8")]]);
  });

  test("of a prefix are words with it, or with its stem", () => {
    expect(required("+compact*")).toEqual([
      [terms("compact"), { kind: "prefix", prefix: "compact" }],
    ]);
    expect(ask("modules*").prefixes).toEqual(["modul"]);
    expect(ask("query*").prefixes).toEqual(["query", "queri"]);
    expect(ask("foo_ba*").prefixes).toEqual(["fooba"]);
  });

  test("of alternatives are one group", () => {
    expect(required("redis or postgres", "all")).toEqual([
      [terms("redis"), terms("postgr"), terms("postgres")],
    ]);
  });

  test("skip stop words beside other words", () => {
    expect(required("the cron", "all")).toEqual([[terms("cron")]]);
    expect(required("who", "all")).toEqual([[terms("who")]]);
    expect(required("+??? cron", "all")).toEqual([[terms("cron")]]);
  });

  test("of excluded words hold one by one", () => {
    expect(ask("cron -foo_bar").excluded).toEqual([terms("foobar"), phrase("foo", "bar")]);
  });
});

describe("the verbatim query", () => {
  const verbatim = (text: string, match: "any" | "all" = "any") => ask(text, match).verbatim;

  test("is its words in order, ignoring punctuation", () => {
    expect(verbatim("error: locks are held")).toEqual(["error", "lock", "are", "held"]);
    expect(verbatim("cron locks", "all")).toEqual(["cron", "lock"]);
    expect(verbatim("open src/a.ts")).toEqual(["open", "src", "a", "ts"]);
  });

  test("has what could be an operator or a sign: it may be a word of a copied line", () => {
    for (const text of [
      "no such file or directory",
      "NO such file OR directory",
      '+no such "file or" -directory',
      '"no such file or directory"',
      "agent:coder no such file or since:7d directory",
      "no such file or directory*",
    ]) {
      expect(verbatim(text), text).toEqual(["no", "such", "file", "or", "directori"]);
    }
    expect(ask('agent:x  a "b  c"  role:user ').typed).toBe('a "b  c"');
  });

  test("is a run of letters in a script without spaces", () => {
    expect(verbatim("数据库")).toEqual(["数据", "据库"]);
  });

  test("is empty for a single name, and for a long text", () => {
    for (const text of ["cron", "src/a.ts", '"cron"', "-cron", "agent:coder cron", "数据"]) {
      expect(verbatim(text), text).toEqual([]);
    }
    expect(verbatim("lock ".repeat(65))).toEqual([]);
    expect(verbatim(`a lock ${"- ".repeat(512)}`)).toEqual([]);
    expect(verbatim("lock ".repeat(64))).toHaveLength(64);
  });
});

test("a pasted log is a query, cut with a note", () => {
  for (const unit of ["lock ", '"', '"a ', "-a ", "a OR ", "fooBar", "不", "a*", "x:"]) {
    const text = unit.repeat(20_000);
    expect(ask(text, "all").notes.join(), unit).toContain("first 16384");
    expect(() => ask(`"${text}"`), unit).not.toThrow();
  }
});

test("a text meets each condition made of itself", () => {
  const word = fc.constantFrom(
    "fooBar",
    "src/a.ts",
    "数据库",
    "locks",
    "don't",
    "2023-05-08",
    "v1.2",
    "不",
    "👍",
    "the",
    "Ana's",
  );
  const texts = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(texts, fc.constantFrom<Language>("english", "simple"), (text, language) => {
      const at = new Map<string, Set<number>>();
      analyze(text, 0, language, (term, position) => {
        at.set(term, (at.get(term) ?? new Set()).add(position));
      });
      for (const asked of [`"${text}"`, text]) {
        for (const group of ask(asked, "all", language).required) {
          expect(group.some((condition) => meets(at, condition))).toBe(true);
        }
      }
    }),
  );
});

function meets(at: ReadonlyMap<string, ReadonlySet<number>>, condition: Condition): boolean {
  if (condition.kind === "prefix")
    return [...at.keys()].some((key) => key.startsWith(condition.prefix));
  if (condition.kind === "terms") return condition.terms.every((term) => at.has(term));
  const starts = at.get(condition.terms[0] ?? "") ?? new Set<number>();
  return [...starts].some((start) =>
    condition.terms.every((term, i) => term === null || at.get(term)?.has(start + i)),
  );
}
