import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_DOCUMENTS } from "../layout.ts";
import { densePlace, denseRank, isDense, packDense, unpackDense } from "./dense-documents.ts";

const someDocuments = fc
  .array(
    fc.oneof(
      fc.nat(CHUNK_DOCUMENTS - 1).map((document) => [document]),
      // Runs, and the edges of words and of the chunk.
      fc
        .tuple(fc.constantFrom(0, 31, 32, 511, 512, 4_095, 65_000), fc.integer({ min: 1, max: 80 }))
        .map(([from, size]) => Array.from({ length: size }, (_, i) => from + i)),
      fc.constant([CHUNK_DOCUMENTS - 1]),
    ),
    { maxLength: 40 },
  )
  .map((runs) => Uint16Array.from(new Set(runs.flat())).sort());

const room = new Uint16Array(CHUNK_DOCUMENTS);

describe("documents as bits", () => {
  test("have exactly their documents", () => {
    const check = (documents: Uint16Array) => {
      const dense = packDense(documents);
      for (const [place, document] of documents.entries()) {
        expect(densePlace(dense, document)).toBe(place);
        for (const other of [document - 1, document + 1]) {
          if (other < 0 || other >= CHUNK_DOCUMENTS) continue;
          expect(densePlace(dense, other)).toBe(documents.indexOf(other));
        }
      }
    };
    fc.assert(fc.property(someDocuments, check));
  });

  test("are decoded between any two documents, with the rank of the first", () => {
    const document = fc.oneof(fc.nat(CHUNK_DOCUMENTS), fc.constantFrom(0, 32, 64, 512, 4_096));
    fc.assert(
      fc.property(someDocuments, document, document, (documents, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const dense = packDense(documents);
        const count = from < to ? unpackDense(dense, from, to, room) : 0;
        const inside = documents.filter((each) => each >= from && each < to);
        expect(room.slice(0, count)).toEqual(inside);
        if (from === CHUNK_DOCUMENTS) return;
        expect(denseRank(dense, from)).toBe(documents.filter((each) => each < from).length);
      }),
    );
  });

  test("are chosen where they are smaller", () => {
    expect(isDense(4_000)).toBe(false);
    expect(isDense(4_500)).toBe(true);
  });
});
