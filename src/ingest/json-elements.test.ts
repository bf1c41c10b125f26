import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readElements, splitElements } from "./json-elements.ts";
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

  test("takes a file that is no array as one element", async () => {
    expect((await split('{"a":[1,2]}')).found).toEqual(['{"a":[1,2]}']);
  });

  test("leaves out an element that is too long, and goes on behind it", async () => {
    const { found, problems } = await split(`["${"x".repeat(50)}",1]`, 7, 20);
    expect([found.filter((part) => part !== ""), problems]).toEqual([["1"], ["line_too_long"]]);
  });

  test("gives what there is of an array that is cut off", async () => {
    expect((await split('[{"a":1},{"b":')).found).toEqual(['{"a":1}', '{"b":']);
  });
});

test("a line that is too long to be handed over is read from the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "elements-"));
  const path = join(folder, "conversations.json");
  writeFileSync(path, '[{"title":"é"},{"title":"b"}]');
  async function* lines(): AsyncGenerator<Line> {
    yield { number: 1, offset: 0, text: "", ended: false, damage: "too_long" };
  }
  const found = [];
  for await (const element of readElements({ path, lines: lines() }, /\{/, new ProblemLog())) {
    found.push(element);
  }
  rmSync(folder, { recursive: true });
  expect(found).toEqual([{ title: "é" }, { title: "b" }]);
});
