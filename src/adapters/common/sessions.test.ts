import { expect, test } from "vitest";
import { readAhead } from "./sessions.ts";

async function collect(pages: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

test("pages come in order, with two reads in flight", async () => {
  const log: string[] = [];
  const read = async (place: number) => {
    log.push(`read ${place}`);
    return place;
  };
  for await (const page of readAhead([1, 2, 3], read)) log.push(`page ${page}`);
  expect(log).toEqual(["read 1", "read 2", "page 1", "read 3", "page 2", "page 3"]);
});

test("one page, or none, is read alone", async () => {
  const read = async (place: number) => place;
  expect(await collect(readAhead([7], read))).toEqual([7]);
  expect(await collect(readAhead([], read))).toEqual([]);
});

test("a failed read rejects a caller that continues, and not one that has stopped", async () => {
  const read = async (place: number) => {
    if (place === 2) throw new Error("page 2 is gone");
    return place;
  };
  for await (const page of readAhead([1, 2, 3], read)) {
    expect(page).toBe(1);
    break;
  }
  await expect(collect(readAhead([1, 2, 3], read))).rejects.toThrow("page 2 is gone");
});
