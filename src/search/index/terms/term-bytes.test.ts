import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, compareTerms, sharedBytes, TermBytes, termKey, unitsOf } from "./term-bytes.ts";

function bytes(term: string): TermBytes {
  const result = new TermBytes();
  result.set(term);
  return result;
}

const part = fc.constantFrom("a", "b", "é", "ü", "日", "本", "\uE000", "\uFFFD", "😀", "😁");
const term = fc.oneof(
  fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

test("terms as bytes sort like strings", () => {
  fc.assert(
    fc.property(term, term, (a, b) => {
      expect(Math.sign(compareTerms(bytes(a), bytes(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test("a term with the lesser key sorts first", () => {
  fc.assert(
    fc.property(term, term, (a, b) => {
      const difference = termKey(bytes(a)) - termKey(bytes(b));
      if (difference !== 0) expect(a < b).toBe(difference < 0);
      expect(termKey(bytes(`${a}${b}`))).toBeGreaterThanOrEqual(termKey(bytes(a)));
    }),
  );
});

test("the common prefix of two terms ends between characters", () => {
  fc.assert(
    fc.property(term, term, (a, b) => {
      const shared = sharedBytes(bytes(a), bytes(b));
      const units = unitsOf(bytes(b), shared);
      expect(a.slice(0, units)).toBe(b.slice(0, units));
      expect(b.slice(0, units).isWellFormed()).toBe(true);
      expect(Buffer.byteLength(b.slice(0, units))).toBe(shared);
      expect(bytesOf(bytes(b), units)).toBe(shared);
      const [next, other] = [b.slice(units), a.slice(units)].map((rest) => [...rest][0]);
      expect(next === undefined || next !== other).toBe(true);
    }),
  );
});

test("the buffer grows with its term", () => {
  const long = bytes("ä".repeat(5_000));
  const copy = new TermBytes();
  copy.copy(long);
  expect(copy.length).toBe(10_000);
  expect(compareTerms(copy, long)).toBe(0);
});
