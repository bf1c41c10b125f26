import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExact } from "./exact-json.ts";

function again(text: string): string {
  return JSON.stringify(parseExact(text));
}

describe("parseExact", () => {
  test.each([
    '{"id":9007199254740993}',
    '{"id":12345678901234567890,"list":[-98765432109876543210]}',
    '{"a":0.1234567890123456789}',
    '{"a":1e400,"b":-1e-400}',
    '{"__proto__":{"id":9007199254740993}}',
  ])("prints %s as it was", (text) => {
    expect(again(text)).toBe(text);
  });

  test("keeps the spelling of a number that would print differently", () => {
    expect(parseExact('{"a":1.50,"b":1e3,"c":10000000000000000,"d":0.00000000000000000}')).toEqual({
      a: 1.5,
      b: 1000,
      c: 1e16,
      d: 0,
    });
  });

  test("does not touch digits inside text", () => {
    expect(parseExact('{"a":"90071992547409931234"}')).toEqual({ a: "90071992547409931234" });
  });

  test("equals JSON.parse for JSON whose numbers fit a double", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(again(text)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test("finds a long number anywhere", () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{16,24}[1-9]$/);
    const exponents = fc.stringMatching(/^[1-9]e-?[4-9][0-9]{2}$/);
    fc.assert(
      fc.property(fc.nat(40), fc.oneof(digits, exponents), fc.nat(40), (before, number, after) => {
        const text = `{"${"x".repeat(before)}":[${number},"${"y".repeat(after)}"]}`;
        expect(again(text)).toBe(text);
      }),
    );
  });

  test("throws like JSON.parse", () => {
    expect(() => parseExact('{"a":9007199254740993')).toThrow(SyntaxError);
  });
});
