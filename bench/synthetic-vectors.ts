/** Vectors with the structure of embeddings: clusters whose noise is as wide as they are apart. */

import { randomNumbers } from "./synthetic.ts";

/** Normally distributed numbers (Box and Muller), the same for the same seed. */
export function gaussians(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return radius * Math.cos(2 * Math.PI * random());
  };
}

/** A random direction. */
export function unit(random: () => number, dimensions: number): Float32Array {
  return normalize(Float32Array.from({ length: dimensions }, random));
}

export interface ClusteredOptions {
  readonly clusters: number;
  /** Vectors of each cluster. */
  readonly each: number;
  readonly queries: number;
  readonly dimensions?: number;
  readonly seed?: number;
}

/** Each vector, and each query, is the centre of a cluster plus noise of the same length. */
export function clusteredVectors({
  clusters,
  each,
  queries,
  dimensions = 384,
  seed = 1,
}: ClusteredOptions): { readonly vectors: Float32Array[]; readonly queries: Float32Array[] } {
  const random = gaussians(seed);
  const centres = Array.from({ length: clusters }, () => unit(random, dimensions));
  const near = (centre: Float32Array) => nearby(random, centre);
  return {
    vectors: centres.flatMap((centre) => Array.from({ length: each }, () => near(centre))),
    queries: Array.from({ length: queries }, (_, i) => near(centres[i % clusters] as Float32Array)),
  };
}

/** A centre plus noise of the same length. */
export function nearby(random: () => number, centre: Float32Array): Float32Array {
  const noise = unit(random, centre.length);
  return normalize(noise.map((value, i) => value + (centre[i] as number)));
}

function normalize(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value ** 2;
  const length = Math.sqrt(squares);
  return vector.map((value) => value / length);
}
