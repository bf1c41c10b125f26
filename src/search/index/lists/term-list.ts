/** The postings of one term in one chunk, for the scorer. */

import {
  CHUNK_DOCUMENTS,
  CHUNK_WINDOWS,
  MAX_TERM_COUNT,
  ROLES,
  WINDOW_DOCUMENTS,
} from "../layout.ts";
import { type DenseDocuments, densePlace, denseRank, unpackDense } from "./dense-documents.ts";
import type { PackedCounts } from "./packed-counts.ts";

export interface TermList extends PackedCounts {
  readonly count: number;
  /** Ascending, relative to the chunk's start. Undefined: the list is `dense`. */
  readonly documents: Uint16Array | undefined;
  readonly dense: DenseDocuments | undefined;
  /** The place in the list where each window begins, plus the end. */
  readonly windows: Uint32Array;
  /**
   * The competitive (count, role, length) triples (Pareto front) of each window, or of the chunk.
   * Undefined: so few postings that they are read directly.
   */
  readonly bounds: Bounds | undefined;
}

export interface Bounds {
  /** The start of each window's triples, plus the end. Two numbers: one range for the chunk. */
  readonly starts: Uint16Array;
  /** count | role << 8 | length << 16 */
  readonly triples: Uint32Array;
  /** The scorer's block-max impacts, and the rules that they were computed by. */
  gains: Float64Array | undefined;
  rules: unknown;
}

/** The place of a document in the list, or -1. */
export function placeOf({ documents, dense, windows }: TermList, document: number): number {
  if (documents === undefined) return densePlace(dense as DenseDocuments, document);
  const window = Math.floor(document / WINDOW_DOCUMENTS);
  const to = windows[window + 1] as number;
  const at = lowerBound(documents, document, windows[window] as number, to);
  return at < to && documents[at] === document ? at : -1;
}

/** Part of a list: `documents[i]` for `from` <= i < `to`, at place i + `shift`. */
export interface PostingSlice {
  readonly documents: Uint16Array;
  readonly from: number;
  readonly to: number;
  readonly shift: number;
}

const room = new Uint16Array(CHUNK_DOCUMENTS);

/** The documents of the list from `first` to `end` (exclusive). Valid until the next call. */
export function slicePostings(list: TermList, first: number, end: number): PostingSlice {
  const { documents, dense, count } = list;
  if (documents === undefined) {
    const found = unpackDense(dense as DenseDocuments, first, end, room);
    return {
      documents: room,
      from: 0,
      to: found,
      shift: found === 0 ? 0 : denseRank(dense as DenseDocuments, first),
    };
  }
  const from = lowerBound(documents, first, 0, count);
  return { documents, from, to: lowerBound(documents, end, from, count), shift: 0 };
}

/** All documents of the list. */
export function documentsOf({ documents, dense, count }: TermList): Uint16Array {
  if (documents !== undefined) return documents;
  const unpacked = new Uint16Array(count);
  unpackDense(dense as DenseDocuments, 0, CHUNK_DOCUMENTS, unpacked);
  return unpacked;
}

/** The start of each window among ascending documents. */
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

/** A count and a role in one number. */
const KEYS = ROLES.length * (MAX_TERM_COUNT + 1);

/** Collects the competitive (count, role, length) triples of a run of postings. */
export class Competitive {
  /** By count and role, the minimum length plus one; 0 if absent. */
  readonly #shortest = new Uint32Array(KEYS);
  /** The present counts and roles, in order of arrival. */
  #keys: number[] = [];

  add(count: number, role: number, length: number): void {
    const key = count | (role << 8);
    const shortest = this.#shortest[key] as number;
    if (shortest === 0) this.#keys.push(key);
    if (shortest === 0 || length + 1 < shortest) this.#shortest[key] = length + 1;
  }

  /** The triples that no other of the same role dominates; resets. */
  take(): number[] {
    const triples: number[] = [];
    const keys = this.#keys.sort((a, b) => (b & 0xff) - (a & 0xff));
    const best = new Uint32Array(ROLES.length);
    for (const key of keys) {
      const role = key >>> 8;
      const shortest = this.#shortest[key] as number;
      this.#shortest[key] = 0;
      const shorter = best[role] as number;
      if (shorter !== 0 && shorter <= shortest) continue;
      best[role] = shortest;
      triples.push((key | ((shortest - 1) << 16)) >>> 0);
    }
    this.#keys = [];
    return triples;
  }
}
