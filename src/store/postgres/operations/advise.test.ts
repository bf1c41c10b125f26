import pg from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { createDatabase, query, withAddress } from "../../../../test/support/postgres.ts";
import { append, createSession, message, nextId } from "../../cases/fixture.cases.ts";
import { TABLES } from "../../tables.ts";
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
  hasDumper: true,
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
  ["empty dumps", { ...GOOD, hasDumper: false }, /pg_dump fails .* BYPASSRLS/],
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

describe("a dump of a store with row-level security", () => {
  /** What `pg_dump` reads of each table, by its own settings; or the SQLSTATE with which it fails. */
  async function dumped(role: string, rowSecurity: "off" | "on") {
    const client = new pg.Client(role);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`SET row_security = ${rowSecurity}`);
    const counts: Record<string, unknown> = {};
    for (const table of TABLES) {
      counts[table] = await client.query(`SELECT count(*)::int AS rows FROM ${table}`).then(
        ({ rows }) => rows[0].rows,
        (error: { code: string }) => error.code,
      );
    }
    return counts;
  }

  test("fails or is empty with a node's role, and is complete with the advised one", async () => {
    const address = await createDatabase();
    const store = await openPostgresStore(address);
    onTestFinished(() => store.close());
    for (const tenant of ["a", "b"]) {
      const { id } = await createSession(store, tenant);
      await append(store, tenant, id, message("to be dumped"));
    }
    const advice = async () => (await store.advise?.())?.find((each) => each.includes("pg_dump"));
    const [, sql = ""] = /: (CREATE ROLE .*) \(docs/.exec((await advice()) ?? "") ?? [];
    const name = `dumper_${nextId().toLowerCase()}`;
    await query(address, sql.replaceAll("backscroll_dump", name));
    onTestFinished(async () => void (await query(address, `DROP ROLE ${name}`)));
    await query(address, `ALTER ROLE ${name} PASSWORD 'dumper'`);
    const dumper = withAddress(address, (url) => {
      url.username = name;
      url.password = "dumper";
    });
    const superuser = withAddress(inject("postgres"), (url) => {
      url.pathname = new URL(address).pathname;
    });
    const all = await dumped(superuser, "off");
    expect(all).toMatchObject({ tenants: 2, sessions: 2, entries: 2 });
    expect(await dumped(dumper, "off")).toEqual(all);
    expect(await dumped(address, "off")).toMatchObject({ sessions: "42501", entries: "42501" });
    expect(await dumped(address, "on")).toMatchObject({ tenants: 2, sessions: 0, entries: 0 });
    expect(await advice()).toBeUndefined();
  });
});
