import fc from "fast-check";
import { expect, test } from "vitest";
import { fitJson } from "./answer.ts";

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test("the result of any value fits", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(400), (value, bytes) => {
      const fitted = fitJson(value, bytes);
      expect(fitted === undefined || sizeOf(fitted) <= bytes).toBe(true);
      if (sizeOf(value) <= bytes) expect(fitted).toEqual(value);
    }),
  );
});

test("small fields stay whole, long texts are cut, and ids are never cut", () => {
  const id = "01JABCDEFGHJKMNPQRSTVWXYZ0";
  const value = { id, total: 3, text: "word ".repeat(200), list: [1, 2, 3] };
  const fitted = fitJson(value, 300) as typeof value;
  expect(fitted).toMatchObject({ id, total: 3, list: [1, 2, 3] });
  expect(fitted.text).toMatch(/^word word .*…$/);
  expect(fitJson({ ids: Array.from({ length: 9 }, () => id) }, 100)).toEqual({ ids: [id, id, id] });
  expect(fitJson({ id, total: 3 }, 30)).toEqual({ total: 3 });
});
