import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Line, splitLines } from "./lines.ts";

async function lines(chunks: readonly (string | Uint8Array)[], maxBytes = 100): Promise<Line[]> {
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk));
  const found: Line[] = [];
  for await (const line of splitLines(bytes, { maxBytes })) found.push(line);
  return found;
}

async function texts(...chunks: (string | Uint8Array)[]): Promise<string[]> {
  return (await lines(chunks)).map(({ text }) => text);
}

describe("splitLines", () => {
  test("numbers lines from one and says where they begin and whether they have ended", async () => {
    expect(await lines(["a\nbé\n", "c"])).toEqual([
      { number: 1, offset: 0, text: "a", ended: true },
      { number: 2, offset: 2, text: "bé", ended: true },
      { number: 3, offset: 6, text: "c", ended: false },
    ]);
  });

  test("takes off carriage returns and a byte order mark, and keeps one that is content", async () => {
    expect(await texts("\uFEFFa\r\nb\r\n\uFEFFc")).toEqual(["a", "b", "\uFEFFc"]);
  });

  test("replaces bytes that are not UTF-8, and says so", async () => {
    const [line] = await lines([Uint8Array.of(0x61, 0xff, 0x62, 0x0a)]);
    expect([line?.text, line?.damage]).toEqual(["a\uFFFDb", "not_utf8"]);
  });

  test("leaves out a line that is too long, and reads on behind it", async () => {
    const found = await lines(["x".repeat(60), "x".repeat(60), "\nok\n"]);
    expect(found).toEqual([
      { number: 1, offset: 0, text: "", ended: true, damage: "too_long" },
      { number: 2, offset: 121, text: "ok", ended: true },
    ]);
  });

  test("gives the same lines however the bytes are cut", async () => {
    const content = fc.array(fc.string({ unit: "grapheme" }).map((s) => s.replace(/[\r\n]/g, "")));
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 1, max: 7 }), async (all, length) => {
        const bytes = Buffer.from(`${all.join("\n")}\n`);
        const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
          bytes.subarray(i * length, (i + 1) * length),
        );
        const expected = all.map((text, i) => (i === 0 ? text.replace(/^\uFEFF/, "") : text));
        const found = await lines(pieces, 10_000);
        expect(found.map(({ text }) => text)).toEqual(all.length === 0 ? [""] : expected);
      }),
    );
  });
});
