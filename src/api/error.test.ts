import { expect, test } from "vitest";
import { hidePasswords } from "./error.ts";

test.each([
  ["postgres://ana:s3cret@host:5432/db", "postgres://ana:***@host:5432/db"],
  [
    "postgresql://ana:s3cret@host/db?sslmode=require",
    "postgresql://ana:***@host/db?sslmode=require",
  ],
  ["POSTGRES://ana:p@ss@host/db", "POSTGRES://ana:***@host/db"],
  ["postgres://ana:p/s@host/db", "postgres://ana:***@host/db"],
  ["postgres://:s3cret@host/db", "postgres://:***@host/db"],
  ["postgres://ana@host/db?password=s3cret&x=1", "postgres://ana@host/db?password=***&x=1"],
  ["http://ana:s3cret@host:7423", "http://***@host:7423"],
  ["https://s3cret@host/", "https://***@host/"],
  ["http://host:7423/?token=s3cret&x=1", "http://host:7423/?token=***&x=1"],
  ["cannot reach postgres://a:b@c/d now", "cannot reach postgres://a:***@c/d now"],
])("takes the secret out of %s", (text, shown) => {
  expect(hidePasswords(text)).toBe(shown);
});

test.each([
  "/home/ana/a:b@c.db",
  ":memory:",
  "postgres://ana@host:5432/db",
  "postgres:///db",
  "http://127.0.0.1:7423",
  "https://a.example/b@c",
])("leaves %s as it is", (text) => {
  expect(hidePasswords(text)).toBe(text);
});
