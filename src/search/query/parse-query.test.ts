import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseQuery, type QueryMatch } from "./parse-query.ts";
import type { Leaf, ParsedQuery } from "./query.ts";

const NOW = new Date(2026, 10, 15, 12).getTime();

function parse(text: string, match: QueryMatch = "any"): ParsedQuery {
  return parseQuery(text, { now: NOW, match });
}

/** A leaf as typed. */
function typed({ kind, text }: Leaf): string {
  return kind === "phrase" ? `"${text}"` : kind === "prefix" ? `${text}*` : text;
}

/** Compares with `required groups / optional / -excluded`, groups in brackets. */
function check(text: string, expected: string, match: QueryMatch = "any"): void {
  const { required, optional, excluded } = parse(text, match);
  const groups = required.map((group) => `[${group.map(typed).join("|")}]`);
  const rest = [...optional.map(typed), ...excluded.map((leaf) => `-${typed(leaf)}`)];
  expect([...groups, ...rest].join(" ")).toBe(expected);
}

describe("words", () => {
  test("are optional, or all required with `match: all`", () => {
    check("cron lock", "cron lock");
    check("cron lock", "[cron] [lock]", "all");
    check("why does the cron job run twice?", "why does the cron job run twice?");
  });

  test("are required by a plus or by AND", () => {
    check("+cron lock", "[cron] lock");
    check("cron AND lock job", "[cron] [lock] job");
  });

  test("are excluded by a minus or by NOT", () => {
    check("cron -redis", "cron -redis");
    check('cron NOT redis -"old lock"', 'cron -redis -"old lock"');
    expect(parse("-redis").notes).toHaveLength(1);
  });

  test("are alternatives by OR, in any case", () => {
    check("redis or postgres", "redis postgres");
    check("redis OR postgres Or sqlite", "[redis|postgres|sqlite]", "all");
    check("lock redis or postgres", "[lock] [redis|postgres]", "all");
    check('"cron lock" OR lease', '["cron lock"|lease]');
  });

  test("`and` and `not` in a sentence are words", () => {
    check("it does not start and fails", "it does not start and fails");
  });

  test("in words mode have no operators and filters", () => {
    const text = 'role:tool -v "not this" +x OR a* since:7d';
    check(text, text, "words");
    expect(parse(text, "words")).toMatchObject({ required: [], excluded: [], filters: {} });
  });

  test("with a star are prefixes", () => {
    check("migrat* +comp*", "[comp*] migrat*");
    check("src/* *.ts **bold** *", "src/* *.ts **bold** *");
  });
});

describe("phrases", () => {
  test("are required, also in typographic quotes", () => {
    check('fix "cron lock"', '["cron lock"] fix');
    check("fix “cron lock”", '["cron lock"] fix');
  });

  test("that are never closed are words", () => {
    check('fix "cron lock', 'fix "cron lock');
    check('""', "");
  });
});

describe("words that resemble operators", () => {
  test("are plain text", () => {
    check("git push --force", "git push --force");
    check("exit code -1", "exit code -1");
    check("a - b + c", "a - b + c");
    check("AND", "");
    check("fix OR", "fix");
    check("OR fix", "fix");
  });
});

describe("filters", () => {
  test("are taken out of the words", () => {
    const query = parse(
      'lock agent:coder Project:"my app" git:main model:m1 role:user tool:Bash agent:x',
    );
    expect(query.filters).toEqual({
      agent: ["coder", "x"],
      project: ["my app"],
      gitBranch: ["main"],
      model: ["m1"],
      role: ["user"],
      tool: ["Bash"],
    });
    expect(query.optional.map(typed)).toEqual(["lock"]);
  });

  test("of time are resolved, the narrowest counts", () => {
    const { filters } = parse("lock since:7d until:2026-11-10 since:2026-11-09");
    expect(filters).toEqual({
      since: new Date(2026, 10, 9).getTime(),
      until: new Date(2026, 10, 11).getTime() - 1,
    });
  });

  test("are unchanged by a plus, and cannot be negated", () => {
    expect(parse("lock +agent:coder").filters).toEqual({ agent: ["coder"] });
    for (const text of ["lock -agent:coder", "lock NOT agent:coder"]) {
      const { filters, notes } = parse(text);
      expect(filters).toEqual({});
      expect(notes).toHaveLength(1);
    }
  });

  test("with an unknown key are plain text", () => {
    check(
      "foo:bar https://a.b/c TS2345: message role: agent:",
      "foo:bar https://a.b/c TS2345: message role: agent:",
    );
    check("constructor:x __proto__:y", "constructor:x __proto__:y");
  });

  test("with an invalid value are words, with a note", () => {
    const query = parse("since:whenever role:boss");
    expect(query.optional.map(typed)).toEqual(["since:whenever", "role:boss"]);
    expect(query.notes).toHaveLength(2);
    expect(query.filters).toEqual({});
  });
});

test("any text is a query", () => {
  const piece = fc.constantFrom(
    '"',
    "“",
    "-",
    "+",
    "*",
    "OR",
    "AND",
    "NOT",
    "agent:",
    "since:",
    "role:",
    ":",
    " ",
    "a",
    "不",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(texts, fc.constantFrom("any" as const, "all" as const), (text, match) => {
      const query = parse(text, match);
      for (const leaf of [...query.required.flat(), ...query.optional, ...query.excluded]) {
        expect(leaf.text.trim()).not.toBe("");
      }
      if (match === "all") expect(query.optional).toEqual([]);
    }),
  );
});
