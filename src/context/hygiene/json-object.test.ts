import { describe, expect, test } from "vitest";
import { parseArguments } from "./turn.ts";

describe("parseArguments", () => {
  test("reads an object", () => {
    expect(parseArguments('{"path":"a","lines":[1,2]}')).toEqual({ path: "a", lines: [1, 2] });
  });

  test("reads no text, and null, as no arguments", () => {
    expect([parseArguments(""), parseArguments(" \n"), parseArguments("null")]).toEqual([
      {},
      {},
      {},
    ]);
  });

  test.each(['{"path":', "[1,2]", '"text"', "7", "undefined", '{"a":1} trailing'])(
    "wraps %s, which is not an object",
    (text) => {
      expect(parseArguments(text)).toEqual({ _raw: text });
    },
  );

  test("wraps values that JSON cannot represent: lone surrogates, infinities, deep nesting", () => {
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    for (const text of ['{"a":"\\ud800"}', '{"\\udc00":1}', '{"a":1e999}', deep]) {
      expect(parseArguments(text)).toEqual({ _raw: text });
    }
  });

  test("reads surrogate pairs and escaped backslashes", () => {
    expect(parseArguments('{"a":"\\ud83d\\ude00"}')).toEqual({ a: "😀" });
    expect(parseArguments('{"a":"\\\\ud800"}')).toEqual({ a: "\\ud800" });
  });

  test("reads __proto__ as an ordinary key", () => {
    const parsed = parseArguments('{"__proto__":{"x":1}}');
    expect(JSON.stringify(parsed)).toBe('{"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });
});
