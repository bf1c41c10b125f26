import { expect, test } from "vitest";
import { LineCounter } from "./line-counter.ts";
import { splitLines } from "./lines.ts";

/** The numbers of the lines that were taken, and what the next reading is given. */
async function take(text: string, state?: ReturnType<LineCounter["state"]>, isWhole = true) {
  const counter = new LineCounter(state);
  const taken: number[] = [];
  for await (const line of counter.number(splitLines([Buffer.from(text)]))) {
    if ((line.ended || isWhole) && counter.take(line.number)) taken.push(line.number);
  }
  return { taken, state: counter.state() };
}

test("numbers go on where an earlier reading ended", async () => {
  const first = await take("a\nb\n");
  expect(first.taken).toEqual([1, 2]);
  expect((await take("c\nd\n", first.state)).taken).toEqual([3, 4]);
});

test("a last line without a line break is taken once, though it is read twice", async () => {
  const first = await take("a\nb");
  expect(first.taken).toEqual([1, 2]);
  expect((await take("b\nc\n", first.state)).taken).toEqual([3]);
});

test("a last line that was torn is taken when it is whole", async () => {
  const first = await take("a\nb", undefined, false);
  expect(first.taken).toEqual([1]);
  expect((await take("bbb\nc\n", first.state)).taken).toEqual([2, 3]);
});
