/**
 * Vectors for `bench vectors`: 1,000 clusters, noise as wide as their centres are apart. Each vector
 * follows from its number, so that two processes have the same ones.
 */

import { gaussians, nearby, unit } from "./synthetic-vectors.ts";

export const DIMENSIONS = 384;
const CLUSTERS = 1_000;
/** Seeds of queries, disjoint from those of vectors. */
const QUERY_SEEDS = 2 ** 31;

export class VectorCorpus {
  readonly #centres: readonly Float32Array[];

  constructor() {
    const random = gaussians(1);
    this.#centres = Array.from({ length: CLUSTERS }, () => unit(random, DIMENSIONS));
  }

  vector(number: number): Float32Array {
    return this.#near(number % CLUSTERS, number);
  }

  query(number: number): Float32Array {
    return this.#near(number % CLUSTERS, QUERY_SEEDS + number);
  }

  #near(cluster: number, seed: number): Float32Array {
    // Neighbouring seeds of mulberry32 share most of their numbers.
    const random = gaussians(Math.imul(seed, 0x9e3779b1));
    return nearby(random, this.#centres[cluster] as Float32Array);
  }
}

/** The `limit` largest of many scores, with their numbers. */
export class Best {
  readonly #limit: number;
  #kept: { readonly number: number; readonly score: number }[] = [];
  #least = Number.NEGATIVE_INFINITY;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(number: number, score: number): void {
    if (score <= this.#least) return;
    this.#kept.push({ number, score });
    if (this.#kept.length >= 4 * this.#limit) this.#cut();
  }

  numbers(): number[] {
    this.#cut();
    return this.#kept.map(({ number }) => number);
  }

  #cut(): void {
    this.#kept = this.#kept.sort((a, b) => b.score - a.score).slice(0, this.#limit);
    if (this.#kept.length === this.#limit) this.#least = this.#kept.at(-1)?.score ?? this.#least;
  }
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
