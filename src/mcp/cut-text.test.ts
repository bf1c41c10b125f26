import { expect, test } from "vitest";
import { quoteConversation } from "../context/quote.ts";
import { cutQuoted } from "./cut-text.ts";

test("a cut element is closed, within the limit", () => {
  const text = `${quoteConversation("About.", "word ".repeat(100))}\nRead on.`;
  for (let limit = 60; limit < text.length; limit++) {
    const cut = cutQuoted(text, limit);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
    expect(cut.match(/<\/recalled-context>/g)).toHaveLength(1);
  }
  expect(cutQuoted(text, text.length)).toBe(text);
});
