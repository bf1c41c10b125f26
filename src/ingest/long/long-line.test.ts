import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repeats } from "../../../test/support/repeats.ts";
import { type LongLine, splitLines } from "../lines.ts";
import { CONVERSATION, CutLine, CutText, cutLine, MAX_LINE_LENGTH } from "./long-line.ts";

/** The result for a text in chunks of these sizes. */
function cut(
  text: string | Buffer,
  sizes: readonly number[] = [60_000],
  line: LongLine = new CutLine(),
) {
  const bytes = Buffer.from(text);
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number;
    line.add(bytes.subarray(at, at + size));
    at += size;
  }
  return line.end();
}

const MB = 1024 * 1024;

describe("a line that is cut as it comes", () => {
  test("equals a line that is cut as a whole", () => {
    const records = [
      { id: "a", text: "word ".repeat(MB), number: 12.5, list: [1, "b", null] },
      { a: "x y".repeat(300_000), b: 'é \n" '.repeat(200_000), c: "short" },
      { data: "iVBORw0K".repeat(MB), type: "image" },
      { many: Array.from({ length: 40 }, (_, i) => `${i} `.repeat(50_000)) },
    ];
    for (const record of records) {
      const { text, damage } = cut(JSON.stringify(record));
      expect(damage).toBeUndefined();
      expect(text.length).toBeLessThanOrEqual(MAX_LINE_LENGTH);
      const given = JSON.parse(text);
      const whole = JSON.parse(cutLine(JSON.stringify(record)));
      expect(Object.keys(given)).toEqual(Object.keys(whole));
      expect(lengths(given)).toEqual(lengths(record));
    }
  });

  test("is unchanged if no value is long, in chunks of any size", () => {
    const value = fc.object({ maxDepth: 3, withNullPrototype: false });
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(value, sizes, (record, pieces) => {
        const text = JSON.stringify(record);
        expect(cut(text, pieces)).toEqual({ text });
      }),
      { numRuns: repeats(20, 600) },
    );
  });

  test("stays valid wherever a value is cut, also in escapes and multi-byte characters", () => {
    const units = ["\\", '"', "\n", "😀", "é", "\ud83d", "x", "\u0001", "寿"];
    const unit = fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 6 });
    const sizes = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(unit, fc.nat(12), sizes, (parts, shift, pieces) => {
        const piece = parts.join("");
        // Without a space it would look like an image.
        const text = `${"-".repeat(shift)} ${piece.repeat(Math.ceil((800 * 1024) / piece.length))}`;
        const before = JSON.stringify({ text });
        const { text: after, damage } = cut(before, pieces);
        expect(damage).toBeUndefined();
        const given = (JSON.parse(after) as { text: string }).text;
        const [, kept = "", lost = "0"] = /^(.*)\[cut: (\d+) characters\]$/s.exec(given) ?? [];
        expect(text.startsWith(kept)).toBe(true);
        expect(JSON.stringify(kept).length + Number(lost)).toBe(JSON.stringify(text).length);
      }),
      { numRuns: repeats(3, 80) },
    );
  });

  test("of many short values is skipped when there are too many", () => {
    const many = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, i) => `v${i}`));
    expect(cut(many(300_000))).toEqual({ text: many(300_000) });
    expect(cut(many(700_000))).toEqual({ text: "", damage: "too_long" });
  });

  test("stays valid if the text between its values is long, at any cut", () => {
    const numbers = Array.from({ length: 400 }, (_, i) => 1_000_000 + i);
    for (let shift = 0; shift < 24; shift += repeats(5, 1)) {
      const blocks = Array.from({ length: 900 }, (_, i) => [
        "x ".repeat(600 + ((i + shift) % 17)),
        numbers,
      ]);
      const { text, damage } = cut(JSON.stringify({ shift: "-".repeat(shift * 97), blocks }));
      // Values of 1,200 characters are cut to 1,024, and numbers are unchanged.
      expect(damage).toBeUndefined();
      const given = JSON.parse(text) as { blocks: [string, number[]][] };
      expect(given.blocks).toHaveLength(900);
      expect(given.blocks.every(([, list]) => list.length === 400)).toBe(true);
    }
  });

  test("keeps a value whole whose last character ends at the limit", () => {
    for (let length = 3 * 256 * 1024 - 4; length < 3 * 256 * 1024 + 24; length++) {
      const value = `${"word ".repeat(length / 5 + 1).slice(0, length)}é`;
      const { text, damage } = cut(JSON.stringify({ value }));
      expect(damage).toBeUndefined();
      const given = (JSON.parse(text) as { value: string }).value;
      const [, kept = given] = /^(.*)\[cut: \d+ characters\]$/s.exec(given) ?? [];
      expect(value.startsWith(kept)).toBe(true);
    }
  });

  test("keeps as many characters of a value as a line that is cut whole", () => {
    for (const word of ["word ", "寿司 ", "😀 é "]) {
      const line = JSON.stringify({ text: word.repeat(2 * MB), other: 1 });
      expect(cut(line).text).toBe(cutLine(line));
    }
  });

  test("reports whether anything was cut", () => {
    const short = new CutLine();
    short.add(Buffer.from(JSON.stringify({ list: Array.from({ length: 99 }, () => "short") })));
    short.end();
    expect(short.isCut).toBe(false);
    const long = new CutLine();
    long.add(Buffer.from(JSON.stringify({ text: "word ".repeat(MB) })));
    long.end();
    expect(long.isCut).toBe(true);
  });

  test("of a conversation is cut only in values that are long by themselves", () => {
    const messages = Array.from({ length: 3_000 }, (_, i) => `${i} ${"said ".repeat(400)}`);
    const given = cut(JSON.stringify(messages), undefined, new CutLine(CONVERSATION));
    expect(JSON.parse(given.text)).toEqual(messages);
  });

  test("reports invalid UTF-8", () => {
    const text = Buffer.from(JSON.stringify({ a: "long ".repeat(100_000), b: "?" }));
    text[text.lastIndexOf("?")] = 0xff;
    expect(cut(text).damage).toBe("not_utf8");
  });

  test("without an end is cut too, and invalid", () => {
    const { text } = cut(`{"a":"${"word ".repeat(MB)}`);
    expect(text.length).toBeLessThan(MB);
    expect(() => JSON.parse(text)).toThrow();
  });
});

test("a line of plain text keeps its head", () => {
  expect(cut('say "so', [3], new CutText())).toEqual({ text: 'say "so' });
  const { text } = cut("寿司".repeat(2 * MB), undefined, new CutText());
  expect(text.length).toBeLessThan(3 * MB);
  const [, kept = "", lost] = /^([寿司]+)\[cut: (\d+) characters\]$/.exec(text) ?? [];
  expect(kept.length + Number(lost)).toBe(4 * MB);
});

test("only long lines are cut, and offsets stay", async () => {
  const long = JSON.stringify({ text: "word ".repeat(MB) });
  const bytes = Buffer.from(`\uFEFF{"n":1}\r\n${long}\r\n{"n":2}`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 50_000) }, (_, i) =>
    bytes.subarray(i * 50_000, (i + 1) * 50_000),
  );
  const lines = [];
  for await (const line of splitLines(chunks, { whenLong: () => new CutLine() })) lines.push(line);
  const third = Buffer.byteLength(`\uFEFF{"n":1}\r\n${long}\r\n`);
  expect(lines.map(({ text: _, ...rest }) => rest)).toEqual([
    { number: 1, offset: 0, ended: true },
    { number: 2, offset: 12, ended: true, isCut: true },
    { number: 3, offset: third, ended: false },
  ]);
  expect(JSON.parse(lines[1]?.text ?? "")).toEqual({
    text: expect.stringMatching(/^(word )+(w|wo|wor|word)?\[cut: \d+ characters\]$/),
  });
});

/** Of each text, how long it was before it was cut, in the characters of its JSON. */
function lengths(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lengths);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, lengths(each)]));
  }
  if (typeof value !== "string") return value;
  const [, kept = value, , lost = "0"] =
    /^(.*)\[(cut|left out): (\d+) characters\]$/s.exec(value) ?? [];
  return JSON.stringify(kept).length - 2 + Number(lost);
}
