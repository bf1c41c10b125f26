/**
 * Term frequencies of a list: four bits each, because they are nearly always small. That saves a
 * tenth of the index, and the list needs no decoding.
 */

export interface PackedCounts {
  /** The low nibble first. 15 means more. */
  readonly counts: Uint8Array;
  /** Counts of 15 and more, by their place in the list. */
  readonly large: ReadonlyMap<number, number>;
}

const MANY = 15;

export function countAt(list: PackedCounts, place: number): number {
  const packed = ((list.counts[place >>> 1] as number) >> ((place & 1) << 2)) & MANY;
  return packed < MANY ? packed : (list.large.get(place) ?? MANY);
}

/** Packs the counts from `from` to `to` (not included). */
export function packCounts(counts: Uint8Array, from: number, to: number): PackedCounts {
  const packed = new Uint8Array((to - from + 1) >>> 1);
  let large: Map<number, number> | undefined;
  for (let i = from; i < to; i++) {
    const count = counts[i] as number;
    const place = i - from;
    const half = Math.min(count, MANY);
    packed[place >>> 1] = (packed[place >>> 1] as number) | (half << ((place & 1) << 2));
    if (count >= MANY) {
      large ??= new Map();
      large.set(place, count);
    }
  }
  return { counts: packed, large: large ?? NONE };
}

export const NONE: ReadonlyMap<number, number> = new Map();
