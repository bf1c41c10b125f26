import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Slots } from "./batches.ts";
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
  test("numbers lines from one, with offsets and whether they are terminated", async () => {
    expect(await lines(["a\nbé\n", "c"])).toEqual([
      { number: 1, offset: 0, text: "a", ended: true },
      { number: 2, offset: 2, text: "bé", ended: true },
      { number: 3, offset: 6, text: "c", ended: false },
    ]);
  });

  test("strips carriage returns and a byte order mark, and keeps one inside the content", async () => {
    expect(await texts("\uFEFFa\r\nb\r\n\uFEFFc")).toEqual(["a", "b", "\uFEFFc"]);
  });

  test("replaces invalid UTF-8, and reports it", async () => {
    const [line] = await lines([Uint8Array.of(0x61, 0xff, 0x62, 0x0a)]);
    expect([line?.text, line?.damage]).toEqual(["a\uFFFDb", "not_utf8"]);
  });

  test("skips a line that is too long, and reads on after it", async () => {
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

describe("long lines", () => {
  const MEGABYTE = Buffer.alloc(1024 * 1024, "x");

  test("are assembled one at a time, across all readers", async () => {
    const longLines = new Slots(1);
    let inside = 0;
    let most = 0;
    async function* file(): AsyncGenerator<Uint8Array> {
      for (let line = 0; line < 2; line++) {
        for (let i = 0; i < 4; i++) {
          // Two chunks are read before the line is known to be long.
          if (i === 2) most = Math.max(most, ++inside);
          await new Promise((resolve) => setImmediate(resolve));
          yield MEGABYTE;
        }
        inside--;
        yield Buffer.from("\n");
      }
      yield Buffer.from("end");
    }
    const read = async () => {
      const found: [number, boolean][] = [];
      for await (const { text, ended } of splitLines(file(), { longLines })) {
        found.push([text.length, ended]);
      }
      return found;
    };
    const expected = [
      [4 * MEGABYTE.length, true],
      [4 * MEGABYTE.length, true],
      [3, false],
    ];
    expect(await Promise.all([read(), read(), read()])).toEqual([expected, expected, expected]);
    expect(most).toBe(1);
  });

  test("do not wait without slots, as an endless one may come over the network", async () => {
    async function* stalled(): AsyncGenerator<Uint8Array> {
      yield MEGABYTE;
      yield MEGABYTE;
      await new Promise(() => {});
    }
    void splitLines(stalled())[Symbol.asyncIterator]().next();
    await new Promise((resolve) => setImmediate(resolve));
    const lengths = [];
    for await (const { text } of splitLines([MEGABYTE, MEGABYTE])) lengths.push(text.length);
    expect(lengths).toEqual([2 * MEGABYTE.length]);
  });

  test("of an abandoned or failed reading release their slot", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("first\n");
      for (;;) yield MEGABYTE;
    }
    const longLines = new Slots(1);
    for await (const { text } of splitLines(endless(), { longLines })) {
      expect(text).toBe("first");
      break;
    }
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield MEGABYTE;
      yield MEGABYTE;
      throw new Error("the disk is gone");
    }
    const failing = (async () => {
      for await (const _ of splitLines(broken(), { longLines }));
    })();
    await expect(failing).rejects.toThrow("the disk is gone");
    const lengths = [];
    for await (const { text } of splitLines([MEGABYTE, MEGABYTE], { longLines })) {
      lengths.push(text.length);
    }
    expect(lengths).toEqual([2 * MEGABYTE.length]);
  });
});
