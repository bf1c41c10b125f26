import { expect, test } from "vitest";
import { createEmptyDatabase, query } from "../../../test/support/postgres.ts";
import { bigints, byteas, texts } from "./binary-copy.ts";

const NUMBERS = [0, -1, 7, null, 2 ** 32, 2 ** 32 - 1, -(2 ** 32) - 5, 2 ** 53 - 1, -(2 ** 53) + 1];
const TEXTS = ["", "a", null, 'quoted "', "back\\slash", "{NULL}", "ünï😀", "line\nbreak"];
const BYTES = [Buffer.alloc(0), Buffer.from([0, 255, 92, 34]), null, Buffer.alloc(5_000, 7)];

test("binary arrays round-trip through the server", async () => {
  const address = await createEmptyDatabase();
  const [row] = await query(
    address,
    `SELECT ARRAY(SELECT n::text FROM unnest($1::bigint[]) n) AS numbers, $2::text[] AS texts,
      $3::bytea[] AS bytes`,
    [bigints(NUMBERS), texts(TEXTS), byteas(BYTES)],
  );
  expect(row).toEqual({
    numbers: NUMBERS.map((number) => (number === null ? null : String(number))),
    texts: TEXTS,
    bytes: BYTES,
  });
});

test("empty arrays are empty, and arrays of nulls have their type", async () => {
  const address = await createEmptyDatabase();
  const [row] = await query(
    address,
    `SELECT $1::bigint[] AS a, $2::text[] AS b, $3::bytea[] AS c`,
    [bigints([]), texts([]), byteas([null, null])],
  );
  expect(row).toEqual({ a: [], b: [], c: [null, null] });
});

test("only safe integers are accepted as bigint", () => {
  expect(() => bigints([1, 0.5])).toThrow("0.5 is not an integer");
  expect(() => bigints([2 ** 60])).toThrow("is not an integer");
});
