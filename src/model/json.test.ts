import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BackscrollError } from "./errors.ts";
import { isPlainObject, isSameJson, stringifyJson } from "./json.ts";
import { MAX_JSON_DEPTH } from "./limits.ts";

/** `place` is the path in the error. */
function refuses(value: unknown, code: string, place: string): void {
  try {
    stringifyJson(value, "input");
  } catch (error) {
    if (!BackscrollError.is(error)) throw error;
    expect([error.code, error.details["field"]]).toEqual([code, place]);
    return;
  }
  throw new Error("was accepted");
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("stringifyJson", () => {
  test("equals JSON.stringify for any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(stringifyJson(value, "input")).toBe(JSON.stringify(value));
      }),
    );
  });

  test("names the path of values that JSON would drop, change or refuse", () => {
    refuses({ a: [1, { b: 10n }] }, "invalid_input", "input.a[1].b");
    refuses({ a: () => 1 }, "invalid_input", "input.a");
    refuses([Symbol("x")], "invalid_input", "input[0]");
    refuses({ a: Number.NaN }, "invalid_input", "input.a");
    refuses({ a: Number.POSITIVE_INFINITY }, "invalid_input", "input.a");
    refuses([undefined], "invalid_input", "input[0]");
    refuses(undefined, "invalid_input", "input");
    refuses({ at: new Date(0) }, "invalid_input", "input.at");
    refuses({ all: new Map([[1, 2]]) }, "invalid_input", "input.all");
    refuses({ bytes: new Uint8Array(2) }, "invalid_input", "input.bytes");
  });

  test("leaves out a member that is undefined", () => {
    expect(stringifyJson({ a: undefined, b: 1 }, "input")).toBe('{"b":1}');
  });

  test("bounds nesting, also of a cyclic value", () => {
    expect(stringifyJson(nested(MAX_JSON_DEPTH), "input")).toBe(
      JSON.stringify(nested(MAX_JSON_DEPTH)),
    );
    refuses(nested(MAX_JSON_DEPTH + 2), "too_large", "input");
    refuses(nested(100_000), "too_large", "input");
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    refuses(cycle, "too_large", "input");
  });

  test("keeps a __proto__ key that is the object's own", () => {
    const parsed: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    expect(stringifyJson(parsed, "input")).toBe('{"__proto__":{"polluted":true},"constructor":1}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("keeps lone surrogates as escapes", () => {
    expect(stringifyJson("\ud800", "input")).toBe('"\\ud800"');
  });
});

describe("isSameJson", () => {
  test("ignores only the order of members", () => {
    const value = { a: [1, { b: null }], c: "x" };
    expect(isSameJson(value, { c: "x", a: [1, { b: null }] })).toBe(true);
    const others = [
      { a: [1, { b: null }] },
      { a: [{ b: null }, 1], c: "x" },
      { a: [], c: "x" },
      [],
    ];
    for (const other of [...others, null, "x"]) expect(isSameJson(value, other)).toBe(false);
    expect(isSameJson({ a: 1 }, { toString: 1 })).toBe(false);
  });
});

describe("isPlainObject", () => {
  test("is true of literals, also without a prototype and of JSON", () => {
    for (const value of [{}, Object.create(null), JSON.parse("{}"), structuredClone({ a: 1 })]) {
      expect(isPlainObject(value)).toBe(true);
    }
  });

  test("is false for all other values", () => {
    class Own {}
    for (const value of [null, undefined, [], "x", 1, new Date(), new Own(), () => 1, new Map()]) {
      expect(isPlainObject(value)).toBe(false);
    }
  });
});
