import { expect, test } from "vitest";
import { excerpt } from "./excerpt.ts";

/** Matches in brackets, code in backticks, bold text between underscores. */
const shown = (snippet: string, matches: { start: number; end: number }[], isTalk = true) =>
  excerpt(snippet, matches, isTalk)
    .map(({ text, marked, style }) => {
      const styled = style === "code" ? `\`${text}\`` : style === "strong" ? `_${text}_` : text;
      return marked ? `[${styled}]` : styled;
    })
    .join("")
    // As browsers show it.
    .replace(/ +/g, " ");

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

test("Markdown is shown as such in a line: code, bold text, the words of a link; globs stay", () => {
  const snippet =
    "## Plan\n\n**Why does `cron`:** see [the `lock` page](https://a.example/x), src/**/*.ts\n```ts\nf()\n```";
  const at = snippet.indexOf("does `cron");
  expect(shown(snippet, [{ start: at, end: at + 10 }])).toBe(
    "Plan _Why _[_does _][`cron`]_:_ see the `lock` page, src/**/*.ts f() ",
  );
});

test("a mark whose other half was cut off is dropped, and tags stay text", () => {
  expect(shown("the lock** is <b>held</b>, **and", [])).toBe("the lock is <b>held</b>, and");
});

test("the rule below the head of a table is not shown", () => {
  const table = "| Remote | Works |\n|--------|:-----:|\n| ssh | yes |";
  expect(shown(table, [])).toBe("| Remote | Works | | ssh | yes |");
});

test("of a tool nothing is Markdown", () => {
  expect(shown("# a\n**b** `c`", [], false)).toBe("# a **b** `c`");
});
