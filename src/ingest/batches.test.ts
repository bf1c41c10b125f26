import { describe, expect, test } from "vitest";
import { type Batched, batched, batchesOf, mapBatches, splitAhead } from "./batches.ts";

function numbers(...batches: readonly (readonly number[])[]): Batched<number> {
  return batched(
    (async function* () {
      yield* batches;
    })(),
  );
}

async function* singles(...items: readonly number[]): AsyncGenerator<number> {
  yield* items;
}

async function listed<Item>(batches: AsyncIterable<Iterable<Item>>): Promise<Item[][]> {
  const found: Item[][] = [];
  for await (const batch of batches) found.push([...batch]);
  return found;
}

test("batches can be taken one by one, and single items as batches", async () => {
  const found: number[] = [];
  for await (const item of numbers([1, 2], [], [3])) found.push(item);
  expect(found).toEqual([1, 2, 3]);
  expect(await listed(batchesOf(numbers([1, 2], [3])))).toEqual([[1, 2], [3]]);
  expect(await listed(batchesOf(singles(1, 2)))).toEqual([[1], [2]]);
});

test("a change runs as its batch is iterated", async () => {
  const seen: number[] = [];
  const doubled = mapBatches(numbers([1, 2], [3]), function* (batch) {
    for (const item of batch) {
      seen.push(item);
      yield 2 * item;
    }
  });
  for await (const batch of doubled.batches()) {
    expect(seen).toEqual([]);
    expect([...batch]).toEqual([2, 4]);
    expect(seen).toEqual([1, 2]);
    break;
  }
});

describe("reading items ahead", () => {
  const enough = (count: number) => (taken: readonly number[]) => taken.length >= count;

  test.each([
    [0, [], [[1, 2, 3], [4]]],
    [2, [1, 2], [[3], [4]]],
    [3, [1, 2, 3], [[], [4]]],
    [9, [1, 2, 3, 4], []],
  ])("%d of them leaves the rest", async (count, first, others) => {
    const { ahead, rest } = await splitAhead(numbers([1, 2, 3], [4]), enough(count));
    expect(ahead).toEqual(first);
    expect(await listed(rest)).toEqual(others);
  });

  test("of single items works as well", async () => {
    const { ahead, rest } = await splitAhead(singles(1, 2, 3), enough(1));
    expect([ahead, (await listed(rest)).flat()]).toEqual([[1], [2, 3]]);
  });
});
