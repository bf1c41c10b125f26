import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recallOfScan } from "../../../bench/nearest-recall.ts";
import { clusteredVectors, gaussians, unit } from "../../../bench/synthetic-vectors.ts";
import { dot } from "../../../bench/vector-corpus.ts";
import { VectorMemory } from "./kernel.ts";
import {
  BLOCK,
  codeBytes,
  cosine,
  groupsOf,
  type Quantized,
  quantize,
  toCodeQuery,
  writeCode,
} from "./quantize.ts";

interface Kept {
  readonly memory: VectorMemory;
  readonly quantized: readonly Quantized[];
  scan(query: Float32Array): Float32Array;
}

function keep(vectors: readonly Float32Array[], kind: "wasm" | "plain"): Kept {
  const memory = new VectorMemory(kind);
  const dimensions = vectors[0]?.length ?? 0;
  const blocks = Math.ceil(vectors.length / BLOCK);
  const codes = memory.allocate(codeBytes(vectors.length, dimensions));
  const factors = memory.allocate(blocks * BLOCK * 4);
  const quantized = vectors.map(quantize);
  for (const [i, each] of quantized.entries()) {
    const bytes = memory.bytes(codes, codeBytes(vectors.length, dimensions));
    memory.floats(factors, blocks * BLOCK)[i] = writeCode(bytes, i, each);
  }
  const range = { codes, factors, blocks, groups: groupsOf(dimensions) };
  const scan = (query: Float32Array) =>
    memory.scan(toCodeQuery(query), range).slice(0, vectors.length);
  return { memory, quantized, scan };
}

test("this machine scans with WebAssembly", () => {
  expect(new VectorMemory().kind).toBe("wasm");
});

test.each([3, 64, 100, 384, 1_536])("both kernels give the same scores: %d dimensions", (size) => {
  const random = gaussians(size);
  const vectors = Array.from({ length: 70 }, () => unit(random, size));
  const [wasm, plain] = [keep(vectors, "wasm"), keep(vectors, "plain")];
  for (let i = 0; i < 5; i++) {
    const query = unit(random, size);
    const scores = wasm.scan(query);
    expect(scores).toEqual(plain.scan(query));
    // An estimate of the cosine: its error shrinks with the root of the dimensions.
    const errors = vectors.map((vector, at) => (scores[at] as number) - dot(vector, query));
    const mean = Math.sqrt(errors.reduce((sum, each) => sum + each ** 2, 0) / errors.length);
    expect(mean).toBeLessThan(1.2 / Math.sqrt(size));
  }
});

test("a vector is closest to itself, by bits and by int8", () => {
  const random = gaussians(1);
  const vectors = Array.from({ length: 500 }, () => unit(random, 96));
  const { scan, quantized } = keep(vectors, "wasm");
  for (const i of [0, 31, 32, 499]) {
    const query = vectors[i] as Float32Array;
    const scores = scan(query);
    expect(scores.indexOf(Math.max(...scores))).toBe(i);
    const { values, scale } = quantized[i] as Quantized;
    expect(cosine(query, values, scale)).toBeCloseTo(1, 2);
  }
});

test("binary candidates rescored by int8 equal a float scan: recall@20 is at least 0.97", () => {
  const { vectors, queries } = clusteredVectors({ clusters: 6, each: 1_000, queries: 6 });
  expect(recallOfScan(vectors, queries)).toBeGreaterThanOrEqual(0.97);
});

test("freed memory is reused, and growing keeps its content", () => {
  const memory = new VectorMemory();
  const first = memory.allocate(100);
  memory.bytes(first, 100).fill(7);
  const second = memory.allocate(1_000_000);
  expect(memory.bytes(first, 100).every((byte) => byte === 7)).toBe(true);
  memory.free(second, 1_000_000);
  expect(memory.allocate(1_000_000)).toBe(second);
  expect(memory.used).toBe(112 + 1_000_000);
});

test("the kernel's bytes are the output of its script", () => {
  const root = join(import.meta.dirname, "../../..");
  const file = join(import.meta.dirname, "kernel-bytes.ts");
  const made = execFileSync(process.execPath, [join(root, "scripts/make-vector-kernel.js"), "-"]);
  expect(made.toString()).toBe(readFileSync(file, "utf8"));
});
