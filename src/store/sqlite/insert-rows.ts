/**
 * Multi-row INSERTs: ten rows per statement take two thirds of the time of ten statements; more gain
 * nothing.
 */

import type { SqliteConnection, SqlValue } from "./sqlite-driver.ts";

const ROWS = 10;

/**
 * `insert` for `count` rows: its one list of placeholders, repeated. A failing row leaves the rows
 * before it (`OR FAIL`), which saves a statement journal: the caller rolls back the transaction.
 */
export function insertRows(count: number, insert: string): string {
  const placeholders = insert.slice(insert.lastIndexOf("("));
  const statement = count === 1 ? insert : insert.replace(/^INSERT/, "INSERT OR FAIL");
  return statement + `, ${placeholders}`.repeat(count - 1);
}

/** Inserts `items` in order, by tens and then one by one. */
export function runInTens<Item>(
  db: SqliteConnection,
  insertOne: string,
  insertTen: string,
  items: readonly Item[],
  valuesOf: (item: Item) => readonly SqlValue[],
): void {
  let i = 0;
  while (items.length - i >= ROWS) {
    const values: SqlValue[] = [];
    for (const end = i + ROWS; i < end; i++) values.push(...valuesOf(items[i] as Item));
    db.insert(insertTen, values);
  }
  for (; i < items.length; i++) db.insert(insertOne, valuesOf(items[i] as Item));
}
