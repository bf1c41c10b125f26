/** BM25. */

export interface Bm25 {
  readonly k1: number;
  readonly b: number;
}

export const BM25: Bm25 = { k1: 1.2, b: 0.75 };

/** The inverse document frequency. Never negative, as in Lucene. */
export function idf(documents: number, having: number): number {
  return Math.log(1 + (documents - having + 0.5) / (having + 0.5));
}

/**
 * Length normalisation as `base + slope * length`: the gain of a term is `count * (k1 + 1) / (count
 * + base + slope * length)`.
 */
export interface LengthNorm {
  readonly gain: number;
  readonly base: number;
  readonly slope: number;
}

export function lengthNorm({ k1, b }: Bm25, averageLength: number): LengthNorm {
  return {
    gain: k1 + 1,
    base: k1 * (1 - b),
    slope: averageLength > 0 ? (k1 * b) / averageLength : 0,
  };
}

export function termGain(norm: LengthNorm, count: number, length: number): number {
  return (norm.gain * count) / (count + norm.base + norm.slope * length);
}
