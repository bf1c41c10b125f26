import { describe, expect, test } from "vitest";
import {
  hitsOf,
  marksOf,
  type SearchCases,
  sessionsOf,
  snippetsOf,
  talk,
} from "./search-fixture.cases.ts";

/** Words, identifiers, scripts and queries as users type them. */
export function searchWordCases({ tenant, settle }: SearchCases): void {
  describe("words", () => {
    const TEXTS = [
      "We call parseQueryString in src/search/query.ts",
      "The error was E_LOCK_TIMEOUT at commit 9fceb02d0ae598e9",
      "Upgrade to v1.12.3 before the 8 May 2026 release",
      "数据库连接失败了",
      "das Größenverhältnis ist über café",
      "We do not use redis for locks",
      "We use redis for caching",
      "to be or not to be",
    ];

    /** A query and the text of its best hit. */
    const ASKED: readonly (readonly [string, string])[] = [
      ["parseQueryString", "We call"],
      ["parsequerystring", "We call"],
      ["query string", "We call"],
      ["src/search/query.ts", "We call"],
      ["query.ts", "We call"],
      ["E_LOCK_TIMEOUT", "The error"],
      ["lock timeout", "The error"],
      ["9fceb02d0ae598e9", "The error"],
      ["9fceb02*", "The error"],
      ["v1.12.3", "Upgrade"],
      ["1.12.3", "Upgrade"],
      ["2026-05-08", "Upgrade"],
      ["数据库", "数据库"],
      ["连接", "数据库"],
      ["CAFE", "das Größen"],
      ["grossenverhaltnis", "das Größen"],
      ["what is it that we do not use", "We do not use"],
      ["not redis", "We do not use"],
      ["releases upgraded", "Upgrade"],
      ["Could you please tell me which version we have to upgrade to?", "Upgrade"],
      ["to be or what", "to be or not"],
      ['"use redis for caching"', "We use redis"],
      ["redis -locks", "We use redis"],
      ["redis NOT locks", "We use redis"],
      ["+caching redis", "We use redis"],
      ["redis AND caching", "We use redis"],
      ["cach*", "We use redis"],
    ];

    test("are found as they are typed", async () => {
      const own = tenant();
      for (const text of TEXTS) await talk(own, [text]);
      await settle(own);
      for (const [query, start] of ASKED) {
        const [hit] = await hitsOf(own, query);
        expect(hit?.window[0]?.snippet, query).toMatch(new RegExp(`^${start}`));
        expect(marksOf(hit).length, `${query} is marked`).toBeGreaterThan(0);
      }
      const all = await snippetsOf(own, "redis caching", { match: "all" });
      expect(all).toEqual(["We use redis for caching"]);
      expect(await snippetsOf(own, '"caching redis"')).toEqual([]);
      expect(await snippetsOf(own, "redis OR café", { match: "all" })).toHaveLength(3);
    });

    test("are marked where they stand", async () => {
      const own = tenant();
      await talk(own, ["The 🦭 parseQuery locks; LOCKED, café 数据库 ok"]);
      await settle(own);
      const marks = async (query: string) => marksOf((await hitsOf(own, query))[0]);
      expect(await marks("parseQuery")).toEqual(["parseQuery"]);
      expect(await marks("lock")).toEqual(["locks", "LOCKED"]);
      expect(await marks("cafe")).toEqual(["café"]);
      expect(await marks("数据库")).toEqual(["数据库"]);
      const filler = "other words ".repeat(200);
      await talk(own, [`${filler} the deployment of kubernetes ${filler}`]);
      await settle(own);
      expect(await marks("kuberentes")).toEqual(["kubernetes"]);
    });
  });

  describe("a query", () => {
    test("is valid for any text", async () => {
      const own = tenant();
      await talk(own, ["a lonely moose"], { title: "Moose" });
      await settle(own);
      const odd = [
        "",
        " ",
        '"',
        '""',
        '"moose',
        'moose"',
        '""moose""',
        "-",
        "+",
        "*",
        ":",
        "-*",
        "--",
        "OR",
        "AND",
        "NOT",
        "OR OR",
        "AND moose OR",
        "-moose",
        "moose -",
        "NOT NOT moose",
        "agent:",
        "agent: moose",
        "since:",
        "since:never",
        "role:king",
        "x:y:z",
        "tool:",
        "()",
        "[moose]",
        "{moose}",
        "moose~2",
        "moose^3",
        "a:b AND (c OR d)",
        "moose\\",
        "%_'",

        "😀",
        "👩‍👩‍👧",
        "\u0000",
        "moose\u0000",
        "\u001b[31m",
        "\ud800",
        "\u202emoose",
        "ﬀ",
        "İ",
        "moose ".repeat(2_700),
        '"'.repeat(16_000),
        "(".repeat(16_000),
        "-a ".repeat(5_000),
      ];
      for (const query of odd) {
        const result = await own.searchSessions(query, { deadlineMs: 10_000 });
        expect(Array.isArray(result.hits), JSON.stringify(query.slice(0, 20))).toBe(true);
        await own.searchMemory(query);
        await own.searchFacts(query);
      }
      expect(await sessionsOf(own, 'moose" OR')).toHaveLength(1);
      expect(await sessionsOf(own, "[moose]")).toHaveLength(1);
      expect(await sessionsOf(own, "moose\u0000")).toHaveLength(1);
    });

    test("of exclusions alone gives no hits and a note", async () => {
      const own = tenant();
      await talk(own, ["a lonely moose"]);
      await settle(own);
      const { hits, notes } = await own.searchSessions("-moose");
      expect([hits, notes.join()]).toEqual([[], expect.stringContaining("nothing to look for")]);
      const filtered = await own.searchSessions("agent:coder since:1d");
      expect(filtered.notes.join()).toContain("only filters");
    });
  });
}
