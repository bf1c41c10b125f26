import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Line } from "../lines.ts";
import { cutLine, cutStrings, MAX_LINE_LENGTH } from "../long/long-line.ts";
import { ProblemLog } from "../problems.ts";
import { limitLines, type Oversize, type ReadThrough, withholdPartialLine } from "./limit-lines.ts";

async function* give(...texts: string[]): AsyncGenerator<Line> {
  let offset = 0;
  for (const [i, text] of texts.entries()) {
    const ended = !text.endsWith("…");
    yield { number: i + 1, offset, text: text.replace(/…$/, ""), ended };
    offset += text.length + 1;
  }
}

const LONG = JSON.stringify({
  id: 12345678901234567890n.toString(),
  text: "word ".repeat(400_000),
});

describe("INV-006: a line over 1 MB", () => {
  async function limited(oversize: Oversize) {
    const problems = new ProblemLog();
    const texts: string[] = [];
    for await (const { text } of limitLines(give("{}", LONG, "[]"), oversize, problems)) {
      texts.push(text);
    }
    return { texts, problems: problems.first.map(({ code, line }) => [code, line]) };
  }

  test("is skipped with a warning on request, and later lines are read", async () => {
    const { texts, problems } = await limited("skip");
    expect(texts).toEqual(["{}", "[]"]);
    expect(problems).toEqual([["line_too_long", 2]]);
  });

  test("has its long values cut by default, with a problem", async () => {
    const { texts, problems } = await limited("cut");
    expect(texts).toHaveLength(3);
    const cut = JSON.parse(texts[1] ?? "") as { id: string; text: string };
    expect(cut.id).toBe("12345678901234567890");
    expect(cut.text).toMatch(/^word word .*\[cut: \d+ characters\]$/);
    expect(texts[1]?.length).toBeLessThan(MAX_LINE_LENGTH);
    expect(problems).toEqual([["line_cut", 2]]);
  });

  test("of many short values stays whole", () => {
    const many = JSON.stringify(Array.from({ length: 300_000 }, (_, i) => `v${i}`));
    expect(cutLine(many)).toBe(many);
  });

  test("loses an image whole", () => {
    const image = JSON.stringify({ type: "image", data: "iVBORw0K".repeat(500_000), n: 1e3 });
    expect(JSON.parse(cutLine(image))).toEqual({
      type: "image",
      data: "[left out: 4000000 characters]",
      n: 1000,
    });
  });
});

describe("cutting strings", () => {
  test("leaves valid JSON, with all short values unchanged", () => {
    const text = fc.string({ unit: "binary", maxLength: 60 });
    const escapes = fc.array(fc.constantFrom("\\", '"', "\n", "😀", "\ud83d", "x", "\u0001"));
    const value = fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(
        text,
        escapes.map((all) => all.join("")),
        fc.integer(),
      ),
    );
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 40 }), (object, length) => {
        const json = JSON.stringify(object);
        const cut = JSON.parse(cutStrings(json, length)) as Record<string, unknown>;
        for (const [key, before] of Object.entries(object)) {
          if (key.length > length) continue;
          const after = cut[key];
          const isShort = typeof before !== "string" || JSON.stringify(before).length - 2 <= length;
          if (isShort) expect(after).toEqual(before);
          else {
            const [, kept = ""] = /^(.*)\[cut: \d+ characters\]$/s.exec(String(after)) ?? [];
            expect(String(before).startsWith(kept)).toBe(true);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test("leaves an unterminated string unchanged", () => {
    expect(cutStrings(`{"a":"${"x".repeat(100)}`, 10)).toBe(`{"a":"${"x".repeat(100)}`);
  });
});

describe("the last line", () => {
  const held = (...texts: string[]) => holding(false, ...texts);

  async function holding(isText: boolean, ...texts: string[]) {
    const through: ReadThrough = { offset: 0, lines: 0, isOpen: false };
    const problems = new ProblemLog();
    const given: string[] = [];
    const last = { end: 99, isText };
    for await (const { text } of withholdPartialLine(give(...texts), last, through, problems)) {
      given.push(text);
    }
    return { given, through, problems: problems.first.map(({ code }) => code) };
  }

  test("is held back if it is torn", async () => {
    expect(await held("{}", '{"a":…')).toEqual({
      given: ["{}"],
      through: { offset: 3, lines: 1, isOpen: false },
      problems: ["torn_line"],
    });
  });

  test("is passed on if it is complete, and remembered as open without its line break", async () => {
    const whole = await held("{}", "{}…");
    expect(whole).toMatchObject({ given: ["{}", "{}"], problems: [] });
    expect(whole.through).toEqual({ offset: 3, lines: 1, isOpen: true });
    const ended = await held("{}", "{}");
    expect(ended.through).toEqual({ offset: 99, lines: 2, isOpen: false });
  });

  test("of another format is passed on unchanged", async () => {
    expect((await held("# chat", "> answ…")).given).toEqual(["# chat", "> answ"]);
    expect((await holding(true, "[", '{"a":1}]…')).given).toEqual(["[", '{"a":1}]']);
    expect((await held()).given).toEqual([]);
  });
});
