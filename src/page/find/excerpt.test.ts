import { expect, test } from "vitest";
import { excerpt } from "./excerpt.ts";

const shown = (snippet: string, matches: { start: number; end: number }[]) =>
  excerpt(snippet, matches)
    .map(({ text, marked }) => (marked ? `[${text}]` : text))
    .join("");

test("matches are marked, and white space is one space", () => {
  expect(shown("a  cron\n\njob", [{ start: 3, end: 7 }])).toBe("a [cron] job");
});

test("a late match is shown with a little text before it", () => {
  const snippet = `${"word ".repeat(80)}needle and more`;
  const text = shown(snippet, [{ start: 400, end: 406 }]);
  expect(text).toMatch(/^… (word ){15,18}\[needle\] and more$/);
});

test("a run is shown, though other words match before it", () => {
  const filler = "lock and key ".repeat(40);
  const snippet = `${filler}the lock is held ${filler}`;
  const run = { start: filler.length, end: filler.length + 16 };
  const text = shown(snippet, [{ start: 0, end: 4 }, { start: 13, end: 17 }, run]);
  expect(text).toMatch(/^… (lock|and|key) .*\[the lock is held\].* (lock|and|key) …$/);
});

test("a text that is cut at its end has a mark, and no matches beyond it", () => {
  const text = shown("x".repeat(1_000), [
    { start: 0, end: 1 },
    { start: 900, end: 901 },
  ]);
  expect(text).toMatch(/^\[x\]x{359} …$/);
});

test("headings, fences and bold text lose their marks; globs and code keep theirs", () => {
  const snippet = "## Plan\n\n**Why:** `cron` fails **twice**\n```ts\nglob(`src/**/*.ts`)\n```";
  const at = snippet.indexOf("Why");
  expect(shown(snippet, [{ start: at, end: at + 3 }])).toBe(
    "Plan [Why]: `cron` fails twice glob(`src/**/*.ts`) ",
  );
});

test("JSON escapes are decoded", () => {
  expect(shown('"old_string":"a\\n\\tb \\"c\\""', [])).toBe('"old_string":"a b "c""');
});
