import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../../../test/support/postgres.ts";
import { openPostgresStore } from "../open-postgres-store.ts";
import { adviseOn, type ServerFacts } from "./advise.ts";

const GOOD: ServerFacts = {
  settings: new Map([
    ["fsync", "on"],
    ["full_page_writes", "on"],
    ["synchronous_commit", "on"],
    ["data_checksums", "on"],
    ["autovacuum", "on"],
    ["max_connections", "100"],
    ["wal_level", "replica"],
    ["archive_mode", "on"],
    ["hot_standby_feedback", "on"],
  ]),
  isStandby: false,
  isExempt: false,
  connections: 20,
  standbys: [{ name: "db-2", isSynchronous: true, lagSeconds: 0 }],
  tables: [{ name: "entries", live: 1_000_000, dead: 100_000 }],
};

function having(setting: string, value: string): ServerFacts {
  return { ...GOOD, settings: new Map([...GOOD.settings, [setting, value]]) };
}

test("a well-configured server needs no advice", () => {
  expect(adviseOn(GOOD)).toEqual([]);
});

test.each<[string, ServerFacts, RegExp]>([
  ["fsync", having("fsync", "off"), /set fsync = on/],
  ["torn pages", having("full_page_writes", "off"), /set full_page_writes = on/],
  ["lost commits", having("synchronous_commit", "off"), /set synchronous_commit = on/],
  ["no checksums", having("data_checksums", "off"), /pg_checksums --enable/],
  ["no vacuum", having("autovacuum", "off"), /set autovacuum = on/],
  ["no standby possible", having("wal_level", "minimal"), /set wal_level = replica/],
  ["no archive", having("archive_mode", "off"), /point in time/],
  ["a superuser", { ...GOOD, isExempt: true }, /row-level security/],
  ["few connections", { ...GOOD, connections: 95 }, /95 of 100 connections .* max_connections/],
  [
    "asynchronous standbys",
    { ...GOOD, standbys: [{ name: "db-2", isSynchronous: false, lagSeconds: 0 }] },
    /synchronous_standby_names/,
  ],
  [
    "a lagging standby",
    { ...GOOD, standbys: [{ name: "db-2", isSynchronous: true, lagSeconds: 61 }] },
    /db-2 lags 61 s/,
  ],
  [
    "dead rows",
    { ...GOOD, tables: [{ name: "entries", live: 20_000, dead: 15_000 }] },
    /VACUUM \(ANALYZE\) entries/,
  ],
  [
    "cancelled reads",
    { ...having("hot_standby_feedback", "off"), isStandby: true, standbys: [] },
    /set hot_standby_feedback = on/,
  ],
])("%s: one sentence with the remedy", (_, facts, sentence) => {
  const advice = adviseOn(facts);
  expect(advice).toHaveLength(1);
  expect(advice[0]).toMatch(sentence);
});

test("a real server reports all settings", async () => {
  const store = await openPostgresStore(await createDatabase());
  onTestFinished(() => store.close());
  const advice = (await store.advise?.()) ?? [];
  // The tests' server trades durability for speed.
  for (const word of ["fsync", "full_page_writes", "autovacuum", "wal_level"]) {
    expect(advice.some((sentence) => sentence.startsWith(word))).toBe(true);
  }
  expect(advice.some((sentence) => sentence.includes("superuser"))).toBe(false);
});
