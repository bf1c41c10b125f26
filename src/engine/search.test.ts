/** Search through the engine: the same cases on both databases, from the feed and from segments. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../test/support/postgres.ts";
import { isStress } from "../../test/support/repeats.ts";
import { open } from "../open.ts";
import { SECRET, snippetsOf, talk } from "./cases/search-fixture.cases.ts";
import { searchHitCases } from "./cases/search-hits.cases.ts";
import { searchLaterCases } from "./cases/search-later.cases.ts";
import { searchLineCases } from "./cases/search-lines.cases.ts";
import { searchMarkCases } from "./cases/search-marks.cases.ts";
import { searchPageCases } from "./cases/search-pages.cases.ts";
import { searchScopeCases } from "./cases/search-scope.cases.ts";
import { searchToolCases } from "./cases/search-tools.cases.ts";
import { searchTreeCases } from "./cases/search-tree.cases.ts";
import { searchWordCases } from "./cases/search-words.cases.ts";
import type { Engine } from "./engine.ts";
import type { TenantEngine } from "./tenant-engine.ts";

let tenants = 0;

type RegisterCases = typeof searchTreeCases;

/** Cases whose hits are read from the database. */
const READING_CASES: readonly RegisterCases[] = [
  searchTreeCases,
  searchScopeCases,
  searchHitCases,
  searchMarkCases,
  searchLaterCases,
  searchLineCases,
  searchPageCases,
];
const ALL_CASES: readonly RegisterCases[] = [...READING_CASES, searchWordCases, searchToolCases];

function searchCases(
  name: string,
  address: () => Promise<string>,
  settle: (tenant: TenantEngine) => Promise<unknown>,
  which: readonly RegisterCases[] = ALL_CASES,
): void {
  describe(name, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await open(await address(), { indexing: { flushAt: 0 } });
    });
    afterAll(() => engine.close());
    const cases = {
      tenant: () => engine.forTenant(`tenant-${++tenants}`),
      settle: async (tenant: TenantEngine) => {
        await settle(tenant);
      },
    };
    for (const register of which) register(cases);
  });
}

const memory = async () => ":memory:";
searchCases("in the feed, on SQLite", memory, async () => undefined);
searchCases("in segments, on SQLite", memory, (tenant) => tenant.maintainIndex("flush"));
// The analyzer is the same on every database.
searchCases(
  "in the feed, on PostgreSQL",
  createDatabase,
  async () => undefined,
  isStress ? ALL_CASES : READING_CASES,
);
searchCases(
  "in segments, on PostgreSQL",
  createDatabase,
  async (tenant) => {
    await tenant.maintainIndex("flush");
    await tenant.maintainIndex("purge");
  },
  isStress ? ALL_CASES : READING_CASES,
);

test("inputs and outputs of tools are found where the host indexes them", async () => {
  const found = async (tools: "names" | "inputs" | "all") => {
    await using engine = await open(":memory:", { indexing: { tools } });
    await talk(engine, [
      {
        role: "assistant",
        toolCalls: [{ id: "1", name: "readFile", arguments: { path: `kudu ${SECRET}` } }],
        toolResults: [{ id: "1", name: "readFile", output: "an impala" }],
      },
    ]);
    expect(await snippetsOf(engine, SECRET)).toEqual([]);
    const queries = ["readFile", "kudu", "impala"];
    const counts = await Promise.all(queries.map((query) => snippetsOf(engine, query)));
    return counts.map(({ length }) => length > 0);
  };
  expect(await found("names")).toEqual([true, false, false]);
  expect(await found("inputs")).toEqual([true, true, false]);
  expect(await found("all")).toEqual([true, true, true]);
});

test("languages differ in stemming", async () => {
  const found = async (language: "english" | "simple") => {
    await using engine = await open(":memory:", { indexing: { language } });
    await talk(engine, ["the locks are held"]);
    return (await snippetsOf(engine, "locking")).length;
  };
  expect([await found("english"), await found("simple")]).toEqual([1, 0]);
});

test.each(["flush", "rebuild", "purge"] as const)(
  "a %s ends while another writer continues",
  async (task) => {
    await using engine = await open(":memory:", { indexing: { flushAt: 0 } });
    const session = await talk(engine, ["the first lock", "another lock"]);
    let writing = true;
    const writer = (async () => {
      for (let i = 0; writing; i++) await session.append({ role: "user", content: `lock ${i}` });
    })();
    const status = await engine.maintainIndex(task);
    writing = false;
    await writer;
    expect(status.through).toBeGreaterThanOrEqual(3);
    expect(await snippetsOf(engine, "first")).toEqual(["the first lock"]);
  },
);
