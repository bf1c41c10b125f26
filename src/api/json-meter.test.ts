import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonBounds, JsonMeter } from "./read-json.ts";

const ROOMY: JsonBounds = { bytes: 1e6, values: 1e6, depth: 1e6 };

/** Measures `text` in chunks of `size` bytes. */
function measure(text: string, bounds: Partial<JsonBounds> = {}, size = 7): JsonMeter {
  const meter = new JsonMeter({ ...ROOMY, ...bounds });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) meter.add(bytes.subarray(at, at + size));
  return meter;
}

/** The naive model: counts the parsed value. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + countValues(each), 1);
  return Object.values(value).reduce((sum: number, each) => sum + 1 + countValues(each), 1);
}

describe("JsonMeter", () => {
  test("counts each value and each name once", () => {
    expect(measure('{"a":[1,true,"x",{}],"b":null}').values).toBe(9);
    expect(measure(" [ ] ").values).toBe(1);
    expect(measure('["\\"", "\\\\", "[{,:"]').values).toBe(4);
  });

  test("counts as a parser does, for any JSON in chunks of any size", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const text = JSON.stringify(value, null, size % 3);
        // A parser keeps one of two equal names; `fc` gives no such objects.
        expect(measure(text, {}, size).values).toBe(countValues(JSON.parse(text)));
      }),
    );
  });

  test.each([
    ["bytes", { bytes: 10 }, "[1,2,3,4,5]"],
    ["values", { values: 5 }, "[1,2,3,4,5]"],
    ["values", { values: 5 }, '{"a":[,,,,,,'],
    ["depth", { depth: 2 }, "[[[]]]"],
  ] as const)("refuses more %s than its bound", (unit, bounds, text) => {
    const limit = Object.values(bounds)[0];
    const details = { field: "body", unit, limit };
    let failure: unknown;
    try {
      measure(text, bounds, 1);
    } catch (error) {
      failure = error;
    }
    expect(failure).toMatchObject({ code: "too_large", details });
  });

  test("accepts exactly its bounds", () => {
    expect(() => measure("[1,2,3,4,5]", { bytes: 11, values: 6, depth: 1 })).not.toThrow();
  });

  test("ignores brackets in strings", () => {
    expect(() => measure('["[[[[[[\\"[[[["]', { depth: 1 }, 1)).not.toThrow();
  });

  test("finds the start and end of the elements of a field's array", () => {
    const text = '{"a":[1,"x,]",[2,3]],"b":{"c":[4,5]},"d":[]}';
    const pieces = measure(text).arrays.map(({ start, ends }) =>
      ends.map((end, i) => text.slice(i === 0 ? start : (ends[i - 1] ?? 0) + 1, end)),
    );
    expect(pieces).toEqual([["1", '"x,]"', "[2,3]"], [""]]);
  });
});
