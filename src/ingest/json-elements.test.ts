import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readElements, splitElements } from "./document/list-scanner.ts";
import type { Line } from "./lines.ts";
import { ProblemLog } from "./problems.ts";

async function* pieces(text: string, length: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += length) yield text.slice(i, i + length);
}

async function split(text: string, length = 3, maxLength?: number) {
  const problems = new ProblemLog();
  const found: string[] = [];
  for await (const part of splitElements(pieces(text, length), problems, maxLength))
    found.push(part);
  return { found, problems: problems.first.map(({ code }) => code) };
}

describe("splitElements", () => {
  test("gives the elements of any array, however the text is cut", async () => {
    const cut = fc.integer({ min: 1, max: 9 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json()), cut, fc.boolean(), async (all, length, isWide) => {
        const text = isWide ? ` [ ${all.join(" ,\n ")} ] \n` : `[${all.join(",")}]`;
        const { found } = await split(text, length);
        const again = found.map((part) => JSON.parse(part) as unknown);
        expect(again).toEqual(all.map((part) => JSON.parse(part) as unknown));
      }),
    );
  });

  test("reads a file that is not an array as one element", async () => {
    expect((await split('{"a":[1,2]}')).found).toEqual(['{"a":[1,2]}']);
  });

  test("skips an element that is too long, and continues after it", async () => {
    const { found, problems } = await split(`["${"x".repeat(50)}",1]`, 7, 20);
    expect([found.filter((part) => part !== ""), problems]).toEqual([["1"], ["line_too_long"]]);
  });

  test("gives the complete part of a truncated array", async () => {
    expect((await split('[{"a":1},{"b":')).found).toEqual(['{"a":1}', '{"b":']);
  });
});

describe("readElements", () => {
  /** A file whose only line is too long to be passed on. */
  async function readLong(...chunks: readonly Uint8Array[]) {
    async function* lines(): AsyncGenerator<Line> {
      yield { number: 1, offset: 0, text: "", ended: false, damage: "too_long" };
    }
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield* chunks;
    }
    const problems = new ProblemLog();
    const found = [];
    const input = { path: "/conversations.json.gz", lines: lines(), bytes: bytes() };
    for await (const element of readElements(input, /\{/, problems)) found.push(element);
    return { found, problems: problems.first.map(({ code }) => code) };
  }

  test("reads the file's bytes, so that no line is too long", async () => {
    const text = Buffer.from('\uFEFF[{"title":"é"},{"title":"b"}]');
    const cut = text.indexOf("é") + 1;
    const { found, problems } = await readLong(text.subarray(0, cut), text.subarray(cut));
    expect([found, problems]).toEqual([[{ title: "é" }, { title: "b" }], []]);
  });

  test("reports invalid UTF-8 once, and not its replacement characters", async () => {
    const damaged = Buffer.from('[{"title":"\xe9"},{"title":"\xe9"}]', "latin1");
    expect(await readLong(damaged)).toEqual({
      found: [{ title: "\uFFFD" }, { title: "\uFFFD" }],
      problems: ["not_utf8"],
    });
    expect((await readLong(Buffer.from('[{"title":"\uFFFD"}]'))).problems).toEqual([]);
  });
});
