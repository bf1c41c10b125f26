/** Recall of the quantised index (bits, then int8) against brute force over floats. */

import { VectorMemory } from "../src/search/vectors/kernel.ts";
import {
  BLOCK,
  codeBytes,
  cosine,
  groupsOf,
  type Quantized,
  quantize,
  RESCORED,
  toCodeQuery,
  writeCode,
} from "../src/search/vectors/quantize.ts";
import { Best, dot } from "./vector-corpus.ts";

/** Vectors of one scan. */
const AT_ONCE = 8_192;

/** The share of each query's `nearest` vectors by floats that are also its nearest by the index. */
export function recallOfScan(
  vectors: readonly Float32Array[],
  queries: readonly Float32Array[],
  nearest = 20,
): number {
  const quantized = vectors.map(quantize);
  const candidates = queries.map(() => new Best(RESCORED));
  for (let from = 0; from < vectors.length; from += AT_ONCE) {
    const estimates = scanner(quantized.slice(from, from + AT_ONCE));
    for (const [i, query] of queries.entries()) {
      for (const [at, estimate] of estimates(query).entries())
        candidates[i]?.add(from + at, estimate);
    }
  }
  let found = 0;
  for (const [i, query] of queries.entries()) {
    const [exact, ranked] = [new Best(nearest), new Best(nearest)];
    for (const [at, vector] of vectors.entries()) exact.add(at, dot(vector, query));
    for (const at of candidates[i]?.numbers() ?? []) {
      const { values, scale } = quantized[at] as Quantized;
      ranked.add(at, cosine(query, values, scale));
    }
    const there = new Set(ranked.numbers());
    found += exact.numbers().filter((at) => there.has(at)).length;
  }
  return found / (nearest * queries.length);
}

/** Estimates of the cosines of all of `quantized` with a query. */
function scanner(quantized: readonly Quantized[]): (query: Float32Array) => Float32Array {
  const memory = new VectorMemory();
  const dimensions = quantized[0]?.values.length ?? 0;
  const blocks = Math.ceil(quantized.length / BLOCK);
  const bytes = codeBytes(quantized.length, dimensions);
  const [codes, factors] = [memory.allocate(bytes), memory.allocate(blocks * BLOCK * 4)];
  for (const [i, each] of quantized.entries()) {
    memory.floats(factors, blocks * BLOCK)[i] = writeCode(memory.bytes(codes, bytes), i, each);
  }
  const range = { codes, factors, blocks, groups: groupsOf(dimensions) };
  return (query) => memory.scan(toCodeQuery(query), range).slice(0, quantized.length);
}
