import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, oneLine } from "./timeline.ts";

const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

/** The naive version: joins the whole head first, then cuts. */
function slowly(text: string, max: number): string {
  const head = text.slice(0, 8_192);
  const joined = head.replace(/\s+/g, (run) => (LINE_BREAK.test(run) ? " " : run));
  const line = cutText(joined === head ? head : joined.trim(), max);
  return head.length < text.length && !line.endsWith("…") ? `${line}…` : line;
}

test("a line is the same from the whole text and from its head", () => {
  const unit = fc.constantFrom(
    "a",
    "b",
    " ",
    "  ",
    "\n",
    "\t\n",
    "\u2028",
    "\u0085",
    "…",
    "😀",
    "\ud83d",
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 120 }), fc.nat(12), (units, max) => {
      const text = units.join("");
      expect(oneLine(text, max)).toBe(slowly(text, max));
    }),
    { numRuns: 2_000 },
  );
});
