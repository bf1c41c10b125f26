/**
 * The checksum of SQLite's write-ahead log: two cumulative 32-bit sums over all frames.
 *
 * One step takes a pair of words: `s1 += x + s2; s2 += y + s1`, modulo 2^32. It is linear, so a
 * difference between two results can be followed back through the words that led to it.
 * https://www.sqlite.org/fileformat2.html#checksum_algorithm
 */

export interface Checksum {
  readonly s1: number;
  readonly s2: number;
}

/** Continues `seed` over `words[from..to)`, an even number of them. */
export function checksumOf(words: Int32Array, from: number, to: number, seed: Checksum): Checksum {
  let { s1, s2 } = seed;
  for (let i = from; i < to; i += 2) {
    s1 = (s1 + (words[i] as number) + s2) | 0;
    s2 = (s2 + (words[i + 1] as number) + s1) | 0;
  }
  return { s1, s2 };
}

export function isSame(a: Checksum, b: Checksum): boolean {
  return a.s1 === b.s1 && a.s2 === b.s2;
}

/**
 * Whether changing a single word would turn `computed` into `stored`.
 *
 * An error `e` in the first word of a pair adds (e, e) to the sums, one in the second word (0, e),
 * and each later pair maps (a, b) to (a + b, a + 2b). So the difference is traced back pair by pair
 * until it has one of those two forms. By chance it does so once in eight million frames of 2 KB.
 */
export function differsInOneWord(stored: Checksum, computed: Checksum, pairs: number): boolean {
  let a = (stored.s1 - computed.s1) | 0;
  let b = (stored.s2 - computed.s2) | 0;
  for (let pair = 0; pair < pairs; pair++) {
    if (a === b || a === 0) return true;
    b = (b - a) | 0;
    a = (a - b) | 0;
  }
  return false;
}
