import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkSchema, type Migration, pendingMigrations } from "./migration.ts";
import { POSTGRES_MIGRATIONS } from "./postgres/schema/index.ts";
import { SQLITE_MIGRATIONS } from "./sqlite/schema/index.ts";

/** The hash of each migration. A released one must not change: add another. */
const PINS: Readonly<Record<string, string>> = {
  "sqlite 18 initial": "74eebd5ae3f8026d",
  "sqlite 19 provenance": "b5700a4355ea2f80",
  "postgres 19 provenance": "4286dd9bbd55632f",
  "postgres 18 initial": "8809911d9d6986ed",
};

test("released migrations are unchanged", () => {
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

test("both backends have the same versions with the same compatibility", () => {
  const facts = ({ version, name, minReader, minWriter }: Migration) => [
    version,
    name,
    minReader,
    minWriter,
  ];
  expect(POSTGRES_MIGRATIONS.map(facts)).toEqual(SQLITE_MIGRATIONS.map(facts));
});

describe("checkSchema", () => {
  const migrations = [5, 6].map((version) => {
    return { version, name: "x", minReader: 5, minWriter: 5, sql: "" };
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

  test("accepts known versions, and newer ones whose minimum allows it", () => {
    expect(check({ version: 6, minReader: 5, minWriter: 5 })).toEqual(["fine", "fine"]);
    expect(check({ version: 9, minReader: 6, minWriter: 6 })).toEqual(["fine", "fine"]);
    expect(check({ version: 9, minReader: 6, minWriter: 7 })).toEqual(["fine", "schema_too_new"]);
    expect(check({ version: 9, minReader: 7, minWriter: 7 })).toEqual([
      "schema_too_new",
      "schema_too_new",
    ]);
  });

  test("reports pending migrations", () => {
    expect(check(undefined)).toEqual(["needs_migration", "needs_migration"]);
    const state = { version: 5, minReader: 5, minWriter: 5 };
    expect(check(state)).toEqual(["needs_migration", "needs_migration"]);
    expect(pendingMigrations(state, migrations).map(({ version }) => version)).toEqual([6]);
    expect(pendingMigrations(undefined, migrations)).toHaveLength(2);
  });

  test("refuses schemas before the first release", () => {
    const state = { version: 4, minReader: 1, minWriter: 1 };
    expect(check(state)).toEqual(["schema_too_old", "schema_too_old"]);
  });
});
