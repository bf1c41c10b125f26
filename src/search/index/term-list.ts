/** The postings of one term in one chunk, as the scorer wants them. */

import { CHUNK_WINDOWS, WINDOW_DOCUMENTS } from "./layout.ts";
import type { PackedCounts } from "./packed-counts.ts";

export interface TermList extends PackedCounts {
  readonly count: number;
  /** Ascending, counted from the start of the chunk. */
  readonly documents: Uint16Array;
  /** Where each window begins in the two arrays; one more for the end. */
  readonly windows: Uint32Array;
  /**
   * What the best documents look like: for each window, or once for the chunk, the (count, role,
   * length) that no other beats in both count and length. Undefined: so few that they are looked at.
   */
  readonly bounds: Bounds | undefined;
}

export interface Bounds {
  /** Where the triples of each window begin; one more for the end. Two numbers: one for the chunk. */
  readonly starts: Uint16Array;
  /** count | role << 8 | length << 16 */
  readonly triples: Uint32Array;
}

/** Where each window begins among ascending documents. */
export function windowStarts(documents: Uint16Array): Uint32Array {
  const starts = new Uint32Array(CHUNK_WINDOWS + 1);
  let window = 0;
  for (let i = 0; i < documents.length; i++) {
    const own = Math.floor((documents[i] as number) / WINDOW_DOCUMENTS);
    while (window < own) starts[++window] = i;
  }
  while (window < CHUNK_WINDOWS) starts[++window] = documents.length;
  return starts;
}

/** The place of `document` between `from` and `to`, or where it would be. */
export function lowerBound(
  documents: Uint16Array | Uint32Array,
  document: number,
  from: number,
  to: number,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((documents[middle] as number) < document) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Collects the competitive (count, role, length) triples of a run of postings. */
export class Competitive {
  readonly #shortest = new Map<number, number>();

  add(count: number, role: number, length: number): void {
    const key = count | (role << 8);
    const shortest = this.#shortest.get(key);
    if (shortest === undefined || length < shortest) this.#shortest.set(key, length);
  }

  /** The triples that no other of the same role beats; empty afterwards. */
  take(): number[] {
    const triples: number[] = [];
    const keys = [...this.#shortest.keys()].sort((a, b) => (b & 0xff) - (a & 0xff));
    const best = new Map<number, number>();
    for (const key of keys) {
      const role = key >>> 8;
      const length = this.#shortest.get(key) as number;
      const shorter = best.get(role);
      if (shorter !== undefined && shorter <= length) continue;
      best.set(role, length);
      triples.push((key | (length << 16)) >>> 0);
    }
    this.#shortest.clear();
    return triples;
  }
}
