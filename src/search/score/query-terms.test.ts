import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_DOCUMENTS, MAX_TERM_COUNT } from "../index/layout.ts";
import { packDense } from "../index/lists/dense-documents.ts";
import { countAt, packCounts } from "../index/lists/packed-counts.ts";
import { documentsOf, placeOf, type TermList, windowStarts } from "../index/lists/term-list.ts";
import { joinLists } from "./query-terms.ts";

type Counts = ReadonlyMap<number, number>;

const someCounts: fc.Arbitrary<Counts> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.nat(40), fc.constantFrom(4_095, 4_096, CHUNK_DOCUMENTS - 1)),
      fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 14, max: MAX_TERM_COUNT })),
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((pairs) => new Map(pairs.sort(([one], [other]) => one - other)));

function listOf(counts: Counts, isDense: boolean): TermList {
  const documents = Uint16Array.from(counts.keys());
  return {
    count: counts.size,
    documents: isDense ? undefined : documents,
    dense: isDense ? packDense(documents) : undefined,
    ...packCounts(Uint8Array.from(counts.values()), 0, counts.size),
    windows: windowStarts(documents),
    bounds: undefined,
  };
}

function countsOf(list: TermList): [document: number, count: number][] {
  return [...documentsOf(list)].map((document) => [
    document,
    countAt(list, placeOf(list, document)),
  ]);
}

describe("merged lists", () => {
  test("have each document once, with summed frequencies, in any order of merging", () => {
    const check = (parts: readonly (readonly [Counts, boolean])[]) => {
      const sums = new Map<number, number>();
      for (const [counts] of parts) {
        for (const [document, count] of counts) {
          sums.set(document, Math.min(MAX_TERM_COUNT, (sums.get(document) ?? 0) + count));
        }
      }
      const joined = joinLists(parts.map(([counts, isDense]) => listOf(counts, isDense)));
      expect(countsOf(joined as TermList)).toEqual([...sums].sort(([one], [other]) => one - other));
    };
    const parts = fc.array(fc.tuple(someCounts, fc.boolean()), { minLength: 1, maxLength: 5 });
    fc.assert(fc.property(parts, check));
  });

  test("are null without documents, and undefined while a list is missing", () => {
    const list = listOf(new Map([[7, 2]]), false);
    expect(joinLists([null, null])).toBeNull();
    expect(joinLists([null, list])).toBe(list);
    expect(joinLists([list, undefined])).toBeUndefined();
  });
});
