import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { translateSqliteError } from "./sqlite-errors.ts";

function failureOf(sql: string): unknown {
  const db = new DatabaseSync(":memory:");
  try {
    db.exec(`CREATE TABLE entries (id TEXT UNIQUE, sequence INTEGER UNIQUE);
      CREATE TABLE chains (session INTEGER, chain INTEGER, PRIMARY KEY (session, chain));
      ${sql}`);
    return undefined;
  } catch (error) {
    return translateSqliteError(error);
  } finally {
    db.close();
  }
}

test("a duplicate of a number that the store assigns is damage", () => {
  const sequence = "INSERT INTO entries VALUES ('a', 1), ('b', 1)";
  const chain = "INSERT INTO chains VALUES (1, 1), (1, 1)";
  for (const sql of [sequence, chain]) {
    expect(failureOf(sql)).toMatchObject({ code: "store_corrupt" });
  }
});

test("a duplicate id from a caller is not damage", () => {
  const failure = failureOf("INSERT INTO entries VALUES ('a', 1), ('a', 2)");
  expect(failure).toMatchObject({ code: "ERR_SQLITE_ERROR" });
});
