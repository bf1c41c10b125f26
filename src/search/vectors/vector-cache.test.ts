import { beforeAll, expect, test } from "vitest";
import { runNow } from "../drive.ts";
import type { Need } from "../port.ts";
import { quantize } from "./quantize.ts";
import { VectorCache } from "./vector-cache.ts";
import { SLAB } from "./vector-layout.ts";
import type { VectorSegmentInfo } from "./vector-port.ts";
import { VectorWriter } from "./vector-writer.ts";

const DIMENSIONS = 8;
const blobs = new Map<string, Uint8Array>();

function answer(need: Need): never {
  if (need.need === "write") {
    for (const { blob, bytes } of need.blobs) blobs.set(`${need.segment}/${blob}`, bytes);
  }
  if (need.need !== "blobs") return undefined as never;
  return need.keys.map(({ segment, blob }) => blobs.get(`${segment}/${blob}`)) as never;
}

/** Written as an embedded batch is. */
function write(segment: number, vectors: number): VectorSegmentInfo {
  const writer = new VectorWriter(segment, DIMENSIONS);
  const values = quantize(new Float32Array(DIMENSIONS).fill(Math.sqrt(1 / DIMENSIONS)));
  for (let i = 0; i < vectors; i++) {
    const piece = { session: 1, sequence: i + 1, last: i + 1, role: 0, time: 0, key: null };
    runNow(writer.add(piece, values), answer);
  }
  const written = runNow(writer.finish(), answer);
  return { segment, from: 0, to: vectors, builtAt: vectors, ...written };
}

let small: VectorSegmentInfo;
/** Its slabs are read in two rounds. */
let large: VectorSegmentInfo;
beforeAll(() => {
  small = write(1, 10);
  large = write(2, 9 * SLAB);
});

test("a segment stays in memory up to the limit, and while a search has it open", () => {
  const cache = new VectorCache(0);
  const opened = runNow(cache.open([small]), answer);
  const again = runNow(cache.open([small]), answer);
  cache.release(again);
  expect(cache.memory.used).toBeGreaterThan(0);
  cache.release(opened);
  expect(cache.memory.used).toBe(0);
});

test.each([1, 2, 3, 4, 5])("a search abandoned at its read %i releases its memory", (reads) => {
  const cache = new VectorCache(0);
  const opening = cache.open([small, large]);
  let step = opening.next();
  for (let read = 1; read < reads; read++) step = opening.next(answer(step.value as Need));
  expect(step.done).toBe(false);
  opening.return([]);
  expect(cache.memory.used).toBe(0);
});

test("a segment with an unreadable blob releases its memory", () => {
  const cache = new VectorCache(0);
  const missing = (need: Need) => {
    const found = answer(need) as (Uint8Array | string)[];
    return (need.need === "blobs" && need.keys.length === 2 ? ["missing"] : found) as never;
  };
  expect(() => runNow(cache.open([small, large]), missing)).toThrow();
  expect(cache.memory.used).toBe(0);
});
