import fc from "fast-check";
import { expect, test } from "vitest";
import { CHUNK_DOCUMENTS, CHUNK_WINDOWS, WINDOW_DOCUMENTS } from "../../index/layout.ts";
import { type ChunkColumns, toChunkColumns } from "../../index/message-columns.ts";
import { openDocuments } from "./open-documents.ts";

/** Consecutive sessions with this many messages each. */
function columnsOf(sizes: readonly number[]): ChunkColumns {
  const numbers = sizes.flatMap((size, session) => Array.from({ length: size }, () => session));
  const sessions = Uint32Array.from(numbers.slice(0, CHUNK_DOCUMENTS));
  const count = sessions.length;
  const messages = { count, roles: new Uint8Array(count), lengths: new Uint16Array(count) };
  return toChunkColumns(messages, sessions, undefined);
}

const size = fc.oneof(
  fc.integer({ min: 1, max: 60 }),
  fc.constantFrom(WINDOW_DOCUMENTS - 1, WINDOW_DOCUMENTS, WINDOW_DOCUMENTS + 1, 10_000),
);

test("the ranges of the windows are exactly the messages of the sessions in scope", () => {
  const chunk = fc
    .array(size, { minLength: 1, maxLength: 30 })
    .chain((sizes) =>
      fc.record({ sizes: fc.constant(sizes), scope: fc.subarray([...sizes.keys()]) }),
    );
  fc.assert(
    fc.property(chunk, ({ sizes, scope }) => {
      const columns = columnsOf(sizes);
      const open = openDocuments(columns, Uint32Array.from(scope));
      const inRanges = new Set<number>();
      for (let window = 0; window < CHUNK_WINDOWS; window++) {
        const ranges = open.rangesOf(window);
        for (let i = 0; i < ranges.length; i += 2) {
          const [from, to] = [ranges[i] as number, ranges[i + 1] as number];
          expect([
            from < to,
            Math.floor(from / WINDOW_DOCUMENTS),
            Math.floor((to - 1) / WINDOW_DOCUMENTS),
          ]).toEqual([true, window, window]);
          // Adjacent ranges are joined.
          if (i > 0) expect(from).toBeGreaterThan(ranges[i - 1] as number);
          for (let document = from; document < to; document++) inRanges.add(document);
        }
      }
      const inScope = new Set(scope);
      for (const [document, session] of columns.sessions.entries()) {
        const isOpen = inScope.has(session);
        if (open.has(document) !== isOpen || inRanges.has(document) !== isOpen) {
          expect.fail(`message ${document} of session ${session}`);
        }
      }
    }),
    { numRuns: 40 },
  );
});
