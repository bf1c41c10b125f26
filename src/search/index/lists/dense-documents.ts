/**
 * The documents of a frequent term in one chunk: a bitmap with a rank directory, where a number per
 * posting would be larger. Common words then take a third of the space, which leaves the cache to
 * others.
 */

import { CHUNK_DOCUMENTS } from "../layout.ts";

export interface DenseDocuments {
  /** 32 documents each, the low bit first. */
  readonly bits: Uint32Array;
  /** The rank at every 512th document. */
  readonly ranks: Uint16Array;
}

export const DENSE_WORDS: number = CHUNK_DOCUMENTS / 32;
const RANK_WORDS = 16;
export const DENSE_RANKS: number = DENSE_WORDS / RANK_WORDS;

/** Flags a dense list, in its first word. */
export const DENSE_LIST = 0x8000_0000;

/** Whether a bitmap is smaller for this many documents. */
export function isDense(count: number): boolean {
  return 2 * count > 4 * DENSE_WORDS + 2 * DENSE_RANKS;
}

/** `documents` are ascending. */
export function packDense(documents: Uint16Array): DenseDocuments {
  const bits = new Uint32Array(DENSE_WORDS);
  for (let i = 0; i < documents.length; i++) {
    const document = documents[i] as number;
    bits[document >>> 5] = (bits[document >>> 5] as number) | (1 << (document & 31));
  }
  const ranks = new Uint16Array(DENSE_RANKS);
  let rank = 0;
  for (let word = 0; word < DENSE_WORDS; word++) {
    if (word % RANK_WORDS === 0) ranks[word / RANK_WORDS] = rank;
    rank += countBits(bits[word] as number);
  }
  return { bits, ranks };
}

/** The place of a document in the list, or -1. */
export function densePlace(dense: DenseDocuments, document: number): number {
  const isThere = ((dense.bits[document >>> 5] as number) >>> (document & 31)) & 1;
  return isThere === 1 ? denseRank(dense, document) : -1;
}

/** The rank: the number of documents before this one. */
export function denseRank({ bits, ranks }: DenseDocuments, document: number): number {
  const word = document >>> 5;
  let at = word - (word % RANK_WORDS);
  let rank = ranks[at / RANK_WORDS] as number;
  for (; at < word; at++) rank += countBits(bits[at] as number);
  return rank + countBits((bits[word] as number) & ((1 << (document & 31)) - 1));
}

/** Writes the documents from `from` to `to` (exclusive). Gives their number. */
export function unpackDense(
  { bits }: DenseDocuments,
  from: number,
  to: number,
  into: Uint16Array,
): number {
  let count = 0;
  const last = (to - 1) >>> 5;
  for (let word = from >>> 5; word <= last; word++) {
    let rest = bits[word] as number;
    const base = word << 5;
    if (base < from) rest &= -1 << (from & 31);
    if (base + 32 > to) rest &= (1 << (to & 31)) - 1;
    while (rest !== 0) {
      const low = rest & -rest;
      into[count++] = base + 31 - Math.clz32(low);
      rest ^= low;
    }
  }
  return count;
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
