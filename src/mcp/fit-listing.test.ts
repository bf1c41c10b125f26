import fc from "fast-check";
import { expect, test } from "vitest";
import { quoteConversation } from "../context/quote.ts";
import { cutQuoted, fitListing } from "./fit-listing.ts";

const listing = (items: readonly string[], focus?: number) => ({
  items,
  ...(focus === undefined ? {} : { focus }),
  toText: (shown: readonly string[], from: number, to: number) =>
    [...shown, `${from}–${to} of ${items.length}`].join("\n"),
});

test("a list that fits is shown whole", () => {
  expect(fitListing(listing(["a", "b"]), 100)).toBe("a\nb\n0–2 of 2");
});

test("whole items are shown from the first on", () => {
  expect(fitListing(listing(["a".repeat(10), "b".repeat(10), "c"]), 25)).toBe(
    "aaaaaaaaaa\n0–1 of 3",
  );
});

test("items around the focus are shown", () => {
  const items = Array.from({ length: 9 }, (_, i) => String(i).repeat(5));
  expect(fitListing(listing(items, 4), 28)).toBe("33333\n44444\n55555\n3–6 of 9");
});

test("an item that exceeds the limit alone is cut", () => {
  expect(fitListing(listing(["x".repeat(100)]), 40)).toBe(`${"x".repeat(26)}…\n0–1 of 1`);
});

test("no text exceeds its limit, and the focus is always shown", () => {
  const items = fc.array(fc.string({ unit: "grapheme", maxLength: 200 }), { minLength: 1 });
  fc.assert(
    fc.property(items, fc.nat(), fc.integer({ min: 40, max: 2_000 }), (given, at, limit) => {
      const marked = given.map((text, i) => `<${i}>${text}`);
      const focus = at % marked.length;
      const text = fitListing(listing(marked, focus), limit);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
      expect(text).toContain(`<${focus}`);
    }),
  );
});

test("a cut element is closed, within the limit", () => {
  const text = `${quoteConversation("About.", "word ".repeat(100))}\nRead on.`;
  for (let limit = 60; limit < text.length; limit++) {
    const cut = cutQuoted(text, limit);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
    expect(cut.match(/<\/recalled-context>/g)).toHaveLength(1);
  }
  expect(cutQuoted(text, text.length)).toBe(text);
});
