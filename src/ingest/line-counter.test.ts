import { expect, test } from "vitest";
import { LineCounter, splitLines } from "./lines.ts";

interface Taking {
  readonly state?: ReturnType<LineCounter["state"]>;
  /** Lines of the file before `text`. */
  readonly before?: number;
  readonly isWhole?: boolean;
}

/** The numbers of the lines taken, and the next resume state. */
async function take(text: string, { state, before = 0, isWhole = true }: Taking = {}) {
  const counter = new LineCounter(state);
  const taken: number[] = [];
  const start = { lines: before, offset: 0 };
  for await (const line of splitLines([Buffer.from(text)], { start })) {
    if ((line.ended || isWhole) && counter.take(line.number)) taken.push(line.number);
  }
  return { taken, state: counter.state() };
}

test("lines after those of an earlier reading are taken", async () => {
  const first = await take("a\nb\n");
  expect(first.taken).toEqual([1, 2]);
  expect((await take("c\nd\n", { state: first.state, before: 2 })).taken).toEqual([3, 4]);
});

test("a last line without a line break is taken once, though it is read twice", async () => {
  const first = await take("a\nb");
  expect(first.taken).toEqual([1, 2]);
  expect((await take("b\nc\n", { state: first.state, before: 1 })).taken).toEqual([3]);
});

test("a torn last line is taken once it is complete", async () => {
  const first = await take("a\nb", { isWhole: false });
  expect(first.taken).toEqual([1]);
  expect((await take("bbb\nc\n", { state: first.state, before: 1 })).taken).toEqual([2, 3]);
});
