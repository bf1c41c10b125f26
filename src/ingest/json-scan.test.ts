import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOfString, scanFields, scanObject } from "./json-scan.ts";

const object = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue());

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("scanning an object", () => {
  test("finds a field's value, and how deep all of it nests", () => {
    fc.assert(
      fc.property(object, fc.jsonValue(), object, fc.constantFrom(0, 2), (a, value, b, space) => {
        const whole = { ...a, "the field": value, ...b };
        const text = JSON.stringify(whole, null, space);
        const scanned = scanObject(text, "the field");
        const { start = 0, end = 0 } = scanned?.value ?? {};
        expect(JSON.parse(text.slice(start, end))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(scanned?.depth).toBe(depthOf(whole));
      }),
    );
  });

  test("the last of several equal names counts, as in a parser", () => {
    const text = '{"a":1,"b":{"a":2},"a":[3]}';
    expect(scanObject(text, "a")).toMatchObject({ value: { start: 23, end: 26 } });
  });

  test("ignores fields of inner objects, and names inside texts", () => {
    const text = JSON.stringify({ x: { wanted: 1 }, y: ',"wanted":2', z: ["wanted", 3] });
    expect(scanObject(text, "wanted")?.value).toBeUndefined();
  });

  test.each([
    ['{"a":12345678901234567890}', true],
    ['{"a":[1e400]}', true],
    ['{"a":-1.5E2}', true],
    ['{"a":"12345678901234567890 1e400"}', false],
    ['{"a":[1.25,-3,0]}', false],
  ])("%s has numbers that may lose digits: %s", (text, expected) => {
    expect(scanObject(text)?.hasLongNumbers).toBe(expected);
  });

  test.each(["", "[]", "1", '"a"', '{"a":1', '{"a', "null"])("%j is not an object", (text) => {
    expect(scanObject(text, "a")).toBeUndefined();
  });

  test("an object ends at its bracket, whatever follows", () => {
    expect(scanObject('{"a":[{}]} {"b":1}')?.end).toBe(10);
  });

  test.each([
    '{"a" "b"}',
    '{"a":1{"b":2}}',
    '{"a":{"b{"type":"user"}}',
    '{"a":tru}',
    '{"a":1x}',
    '{"a":,"b":1}',
    '{"a":[1 2]}',
    '{"a":nullnull}',
    '{"a":{"b":"c{"d":"e"}}',
  ])("%s has a value at an invalid position", (text) => {
    expect(scanObject(text)).toBeUndefined();
  });

  test("a torn record and the next one after it are not one object", () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab"\\{}[]:,1 ') });
    const record = fc.record({ type: fc.constantFrom("user", "x"), a: text, b: fc.array(text) });
    fc.assert(
      fc.property(record, record, fc.nat(), (first, second, at) => {
        const line = JSON.stringify(first);
        const torn = line.slice(0, 1 + (at % (line.length - 1)));
        const end = scanObject(torn + JSON.stringify(second))?.end;
        // The rest of the first may be complete, if it is torn at its very end.
        expect(end === undefined || end === line.length).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("invalid JSON ends the scan", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\1e-a ') }), (text) => {
        expect(scanObject(text, "a")?.depth ?? 1).toBeGreaterThan(0);
        expect([...scanFields(text)].length).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

test("the fields of an object come with their texts", () => {
  fc.assert(
    fc.property(object, fc.constantFrom(0, 2), (fields, space) => {
      const text = JSON.stringify(fields, null, space);
      const found = [...scanFields(text)].map(({ name, start, end }) => [
        name,
        JSON.parse(text.slice(start, end)),
      ]);
      expect(found).toEqual(Object.entries(JSON.parse(text)));
    }),
  );
});

test("a string ends at the first quote after an even number of backslashes", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('"', "\\", "a", "\n") }), (value) => {
      const literal = JSON.stringify(value);
      expect(endOfString(`${literal},"b"`, 1)).toBe(literal.length - 1);
    }),
  );
  expect(endOfString('open\\"', 0)).toBe(-1);
});
