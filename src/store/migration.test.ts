import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkSchema, type Migration, pendingMigrations } from "./migration.ts";
import { POSTGRES_MIGRATIONS } from "./postgres/migrations/index.ts";
import { SQLITE_MIGRATIONS } from "./sqlite/migrations/index.ts";

/** What each migration came to. One that a release has carried must not change: add another. */
const PINS: Readonly<Record<string, string>> = {
  "sqlite 1 initial": "a8a9af1b9975b730",
  "sqlite 2 index": "4c9a1716c57973db",
  "sqlite 3 marks": "b6e751ab0a8a06d1",
  "sqlite 4 retention": "4e8c43881e69e231",
  "sqlite 5 ingest": "f2cd8caa86a1361e",
  "sqlite 6 access": "c63961d5ae5b7902",
  "sqlite 7 routes": "b22d1fc14dec1f40",
  "sqlite 8 repository": "f97a4e6fd339784c",
  "sqlite 9 feed-in-entries": "3db7eb3b2f0b1cc3",
  "sqlite 10 usage-in-entries": "ccc4918ceafa6444",
  "sqlite 11 packs": "a062f13be3a22531",
  "sqlite 12 short-ids": "cca5f92370b360f4",
  "sqlite 13 originals": "16379054eadd6910",
  "sqlite 14 older-sqlite": "256e30ed16f0d1e5",
  "sqlite 16 records": "ed880fb621cc429f",
  "sqlite 17 session-models": "7147e6ce8c9fd6e8",
  "sqlite 18 feed-in-bulk": "e004ebd5b5532a4b",
  "postgres 1 initial": "9a11c4d9239c3f8d",
  "postgres 2 index": "b76e6a181fc1a24b",
  "postgres 3 marks": "b6e751ab0a8a06d1",
  "postgres 4 retention": "7976ffae475af5be",
  "postgres 5 ingest": "7e70a3f14c7ff1a5",
  "postgres 6 access": "fb3c791840ca3bac",
  "postgres 7 routes": "f82c91a6453d03b5",
  "postgres 8 repository": "4f81a686af4b8fba",
  "postgres 9 feed-in-entries": "e004ebd5b5532a4b",
  "postgres 10 usage-in-entries": "e004ebd5b5532a4b",
  "postgres 11 packs": "e004ebd5b5532a4b",
  "postgres 12 short-ids": "13f042808725f104",
  "postgres 13 originals": "38b238c2c2e6b852",
  "postgres 14 older-sqlite": "e004ebd5b5532a4b",
  "postgres 16 records": "bc7df7998ee9fe39",
  "postgres 17 session-models": "eaaa37088c2f3026",
  "postgres 18 feed-in-bulk": "c09509dc177af525",
};

test("migrations are what they were", () => {
  const all = [
    ...SQLITE_MIGRATIONS.map((migration) => ["sqlite", migration] as const),
    ...POSTGRES_MIGRATIONS.map((migration) => ["postgres", migration] as const),
  ];
  const hashes = all.map(([backend, { version, name, sql }]) => [
    `${backend} ${version} ${name}`,
    createHash("sha256").update(sql).digest("hex").slice(0, 16),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(PINS);
});

test("both backends have the same versions, which may use each other's stores alike", () => {
  const facts = ({ version, name, minReader, minWriter }: Migration) => [
    version,
    name,
    minReader,
    minWriter,
  ];
  expect(POSTGRES_MIGRATIONS.map(facts)).toEqual(SQLITE_MIGRATIONS.map(facts));
});

describe("checkSchema", () => {
  const migrations = [1, 2].map((version) => {
    return { version, name: "x", minReader: 1, minWriter: 1, sql: "" };
  });
  const check = (state: { version: number; minReader: number; minWriter: number } | undefined) =>
    (["read", "write"] as const).map((use) => {
      try {
        checkSchema(state, migrations, use);
        return "fine";
      } catch (error) {
        return (error as { code: string }).code;
      }
    });

  test("takes what it knows, and what newer versions allow it", () => {
    expect(check({ version: 2, minReader: 1, minWriter: 1 })).toEqual(["fine", "fine"]);
    expect(check({ version: 9, minReader: 2, minWriter: 2 })).toEqual(["fine", "fine"]);
    expect(check({ version: 9, minReader: 2, minWriter: 3 })).toEqual(["fine", "schema_too_new"]);
    expect(check({ version: 9, minReader: 3, minWriter: 3 })).toEqual([
      "schema_too_new",
      "schema_too_new",
    ]);
  });

  test("asks for the migrations that are missing", () => {
    expect(check(undefined)).toEqual(["needs_migration", "needs_migration"]);
    expect(check({ version: 1, minReader: 1, minWriter: 1 })).toEqual([
      "needs_migration",
      "needs_migration",
    ]);
    const state = { version: 1, minReader: 1, minWriter: 1 };
    expect(pendingMigrations(state, migrations).map(({ version }) => version)).toEqual([2]);
    expect(pendingMigrations(undefined, migrations)).toHaveLength(2);
  });
});
