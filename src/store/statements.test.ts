import { expect, test } from "vitest";
import "./postgres/postgres-store.ts";
import "./sqlite/open-sqlite-store.ts";
import { registeredStatements, type Statement } from "./statements.ts";
import { DERIVED_TABLES, INDEX_TABLES, STORAGE_TABLES, TABLES } from "./tables.ts";

/** All but the table of tenants. */
const KEYED: readonly string[] = [
  ...TABLES.filter((table) => table !== "tenants"),
  ...INDEX_TABLES,
  ...STORAGE_TABLES,
  ...DERIVED_TABLES,
];

/** Statements that look beyond one tenant, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "postgres tokens.find": "a token identifies the tenant of its holder",
  "sqlite index_ahead.heads":
    "compares every tenant's index with its feed when a store is opened, and shows no content",
  "sqlite read_entries.leaves":
    "joins an entry by its rowid, which a subquery takes from the tenant's rows",
  "sqlite status.tenants": "the status counts rows of every tenant, and shows no content",
  "sqlite tokens.find": "a token identifies the tenant of its holder",
};

test("every statement that touches a tenant's rows names the tenant", () => {
  const open = registeredStatements().filter((statement) => openTables(statement).length > 0);
  expect(open.map(fullName).sort()).toEqual(Object.keys(EXCEPTIONS));
});

test("every update of the table of tenants names the row", () => {
  const updates = registeredStatements().filter(({ sql }) => /\bUPDATE tenants\b/.test(sql));
  expect(updates.length).toBeGreaterThan(2);
  for (const { sql } of updates) expect(sql).toMatch(/WHERE tenant = (\?|\$1)/);
});

test("every statement has a unique name, short enough for PostgreSQL", () => {
  const names = registeredStatements().map(fullName);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(150);
  for (const { name } of registeredStatements()) expect(name.length).toBeLessThan(64);
});

test("the check detects violations", () => {
  const wrong = {
    "no condition": "SELECT id FROM entries WHERE id = $1",
    "a join without it": `SELECT e.id FROM sessions s JOIN entries e ON e.session = s.session
      WHERE s.tenant = $1`,
    "a subquery without it": `SELECT id FROM sessions WHERE tenant = ? AND EXISTS
      (SELECT 1 FROM entries WHERE session = 1)`,
    "a join to an unbound alias": `SELECT e.id FROM sessions s JOIN entries e
      ON e.tenant = s.tenant`,
    "an insert without it": "INSERT INTO facts (id) VALUES ($1)",
    "an insert or fail": "INSERT OR FAIL INTO facts (id) VALUES ($1)",
    "a deletion": "DELETE FROM facts WHERE id = $1",
  };
  for (const [name, sql] of Object.entries(wrong)) {
    expect([name, openTables({ backend: "postgres", name, sql }).length]).not.toEqual([name, 0]);
  }
});

interface TableUse {
  readonly table: string;
  readonly alias: string | undefined;
}

/** The uses of tenant tables in a statement without a tenant. */
function openTables({ sql }: Statement): TableUse[] {
  const text = sql
    // The transaction's tenant setting counts as a parameter.
    .replace("current_setting('backscroll.tenant')", "$")
    .replace(/'[^']*'/g, "''")
    // A row inserted with its tenant belongs to it.
    .replace(/INSERT (?:OR FAIL )?INTO \w+(?: AS \w+)?\s*\(tenant,/g, "");
  const uses = [...text.matchAll(TABLE_USE)]
    .map(([, table = "", alias]) => ({ table, alias }))
    .filter(({ table }) => KEYED.includes(table));
  const given = givenAliases(text);
  const openNamed = uses.filter(({ alias }) => alias !== undefined && !given.has(alias));
  // Uses without an alias are counted against conditions without one.
  const unnamed = uses.filter(({ alias }) => alias === undefined);
  const conditions = [...text.matchAll(/(?<!\.)\btenant = (?:\?|\$)/g)].length;
  return [...openNamed, ...unnamed.slice(conditions)];
}

/** A table follows these words, and then an alias, unless it is a keyword. */
const TABLE_USE =
  /\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+([a-z_]+)(?:\s+(?:AS\s+)?(?!ON\b|WHERE\b|SET\b|ORDER\b|LIMIT\b|JOIN\b|CROSS\b|INDEXED\b|VALUES\b|USING\b|RETURNING\b|FOR\b|DO\b|SELECT\b|UNION\b)([a-z]\w*))?/gi;

/** Aliases whose tenant equals a parameter, directly or by way of another alias. */
function givenAliases(text: string): Set<string> {
  const given = new Set(
    [...text.matchAll(/\b(\w+)\.tenant = (?:\?|\$)/g)].map(([, alias = ""]) => alias),
  );
  const pairs = [...text.matchAll(/\b(\w+)\.tenant = (\w+)\.tenant/g)];
  for (let before = -1; before !== given.size; ) {
    before = given.size;
    for (const [, left = "", right = ""] of pairs) {
      if (given.has(left)) given.add(right);
      if (given.has(right)) given.add(left);
    }
  }
  return given;
}

function fullName({ backend, name }: Statement): string {
  return `${backend} ${name}`;
}
