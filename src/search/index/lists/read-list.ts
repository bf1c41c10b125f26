/**
 * Decodes stored postings to lists for scoring. Postings are delta-coded varints; the low bit of
 * each flags a frequency above 1.
 */

import { ByteReader, u16View, u32View } from "../bytes.ts";
import { readAddress } from "../field-writer.ts";
import type { Address } from "../layout.ts";
import { CHUNK_WINDOWS } from "../layout.ts";
import { DENSE_LIST, DENSE_RANKS, DENSE_WORDS, type DenseDocuments } from "./dense-documents.ts";
import { NONE, packCounts } from "./packed-counts.ts";
import { type TermList, windowStarts } from "./term-list.ts";

/** All postings of a rare term. */
export interface ShortList {
  readonly documents: Uint32Array;
  readonly counts: Uint8Array;
}

export function readShortList(bytes: Uint8Array, count: number): ShortList {
  const reader = new ByteReader(bytes);
  const documents = new Uint32Array(count);
  const counts = new Uint8Array(count);
  let document = 0;
  for (let i = 0; i < count; i++) {
    const delta = reader.varint();
    document += Math.floor(delta / 2);
    documents[i] = document;
    counts[i] = delta % 2 === 0 ? 1 : reader.varint();
  }
  return { documents, counts };
}

/** The part of a short list between two places, as a list of one chunk. */
export function chunkOfShort(list: ShortList, from: number, to: number, base: number): TermList {
  const documents = new Uint16Array(to - from);
  for (let i = from; i < to; i++) documents[i - from] = (list.documents[i] as number) - base;
  return {
    count: to - from,
    documents,
    dense: undefined,
    ...packCounts(list.counts, from, to),
    windows: windowStarts(documents),
    bounds: undefined,
  };
}

/** The address of a long list's chunk. */
export interface LongListChunk {
  readonly chunk: number;
  readonly count: number;
  readonly list: Address;
  readonly positions: Address;
}

export function readLongTable(bytes: Uint8Array): LongListChunk[] {
  const reader = new ByteReader(bytes);
  const chunks: LongListChunk[] = [];
  let chunk = 0;
  while (!reader.done) {
    chunk += reader.varint();
    const count = reader.varint();
    chunks.push({ chunk, count, list: readAddress(reader), positions: readAddress(reader) });
  }
  return chunks;
}

/** A view of the record: almost nothing is decoded. */
export function readLongChunk(bytes: Uint8Array, count: number): TermList {
  const head = u32View(bytes, 0, 1)[0] as number;
  const startCount = head & 0xff;
  const largeCount = (head & ~DENSE_LIST) >>> 8;
  let at = 4;
  const windows = u32View(bytes, at, CHUNK_WINDOWS + 1);
  at += windows.byteLength;
  const countBytes = (count + 1) >>> 1;
  const isBits = head >= DENSE_LIST;
  const documentBytes = isBits ? 4 * DENSE_WORDS + 2 * DENSE_RANKS : 2 * count;
  const rest = 2 * startCount + documentBytes + countBytes + LARGE_BYTES * largeCount;
  const tripleCount = (bytes.length - at - rest) / 4;
  const triples = u32View(bytes, at, tripleCount);
  at += triples.byteLength;
  const dense = isBits ? readDense(bytes, at) : undefined;
  if (isBits) at += documentBytes;
  const starts = u16View(bytes, at, startCount);
  at += starts.byteLength;
  const documents = isBits ? undefined : u16View(bytes, at, count);
  if (!isBits) at += documentBytes;
  const counts = bytes.subarray(at, at + countBytes);
  const large = readLarge(bytes.subarray(at + countBytes), largeCount);
  const bounds = { starts, triples, gains: undefined, rules: undefined };
  return { count, documents, dense, counts, large, windows, bounds };
}

function readDense(bytes: Uint8Array, at: number): DenseDocuments {
  const bits = u32View(bytes, at, DENSE_WORDS);
  return { bits, ranks: u16View(bytes, at + bits.byteLength, DENSE_RANKS) };
}

/** Place (two bytes) and count (one). */
const LARGE_BYTES = 3;

function readLarge(bytes: Uint8Array, count: number): ReadonlyMap<number, number> {
  if (count === 0) return NONE;
  const large = new Map<number, number>();
  for (let at = 0; at < LARGE_BYTES * count; at += LARGE_BYTES) {
    const place = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    large.set(place, bytes[at + 2] as number);
  }
  return large;
}
