/**
 * Writes the dictionary and the postings of one field, a term at a time in ascending order. The
 * dictionary has front-coded blocks of terms and a sparse block index.
 */

import type { BlobPacker } from "./blob-packer.ts";
import { ByteReader, ByteWriter, putVarint } from "./bytes.ts";
import type { Address } from "./layout.ts";
import {
  CHUNK_DOCUMENTS,
  CHUNK_WINDOWS,
  DICTIONARY_BLOCK,
  LONG_LIST,
  POSITIONS_STRIDE,
  WINDOW_DOCUMENTS,
  WINDOWED_LIST,
} from "./layout.ts";
import { DENSE_LIST, isDense, packDense } from "./lists/dense-documents.ts";
import { packCounts } from "./lists/packed-counts.ts";
import { Competitive, lowerBound } from "./lists/term-list.ts";
import { sharedBytes, TermBytes, unitsOf } from "./terms/term-bytes.ts";

/** Properties of documents that enter the bounds of a list. */
export interface Norms {
  readonly roles: Uint8Array;
  readonly lengths: Uint16Array;
}

/** Places the records of a segment: records that are read together are stored together. */
export interface SegmentPackers {
  readonly dictionary: BlobPacker;
  readonly postings: BlobPacker;
  readonly positions: BlobPacker;
}

/** A document of up to 31 bits and a count of up to eight, as varints. */
const MOST_POSTING_BYTES = 5 + 2;

/** Five numbers of up to 31 bits. */
const MOST_ENTRY_BYTES = 5 * 5;

export class FieldWriter {
  readonly #packers: SegmentPackers;
  readonly #norms: Norms;
  readonly #index = new ByteWriter();
  readonly #entries = new ByteWriter();
  readonly #postings = new ByteWriter();
  readonly #positions = new ByteWriter();
  readonly #record = new ByteWriter();
  /** Bytes of positions written so far. */
  positionBytes = 0;
  #inBlock = 0;
  readonly #first = new TermBytes();
  readonly #previous = new TermBytes();
  readonly #bounds = new Competitive();

  constructor(packers: SegmentPackers, norms: Norms) {
    this.#packers = packers;
    this.#norms = norms;
  }

  /**
   * `term` is greater than the previous one. The first `count` of `documents` (ascending) and
   * `counts` are used. The first `positionBytes` of `positions` hold, for each document, as many
   * varints as its count: the first position, then deltas.
   */
  add(
    term: TermBytes,
    count: number,
    documents: Uint32Array,
    counts: Uint8Array,
    positions: Uint8Array,
    positionBytes: number,
  ): void {
    if (this.#inBlock === DICTIONARY_BLOCK) this.#closeBlock();
    if (this.#inBlock === 0) this.#first.copy(term);
    const shared = this.#inBlock === 0 ? 0 : sharedBytes(this.#previous, term);
    const postingsBefore = this.#postings.length;
    const positionsBefore = this.#positions.length;
    const isLong = count >= LONG_LIST;
    if (isLong) {
      this.#addLong(count, documents, counts, positions);
    } else {
      this.#addShort(count, documents, counts);
      this.#positions.copy(positions, 0, positionBytes);
    }

    const entries = this.#entries.reserve(MOST_ENTRY_BYTES + term.length);
    let at = putVarint(entries, this.#entries.length, unitsOf(term, shared));
    at = putVarint(entries, at, term.length - shared);
    const { bytes, length } = term;
    for (let i = shared; i < length; i++) entries[at++] = bytes[i] as number;
    at = putVarint(entries, at, count * 2 + (isLong ? 1 : 0));
    at = putVarint(entries, at, this.#postings.length - postingsBefore);
    at = putVarint(entries, at, this.#positions.length - positionsBefore);
    this.#entries.wrote(at);
    this.#previous.copy(term);
    this.#inBlock++;
  }

  /** The address of the block index. */
  finish(): Address {
    if (this.#inBlock > 0) this.#closeBlock();
    return this.#packers.dictionary.addWritten(this.#index);
  }

  #addShort(length: number, documents: Uint32Array, counts: Uint8Array): void {
    const bytes = this.#postings.reserve(MOST_POSTING_BYTES * length);
    let at = this.#postings.length;
    let previous = 0;
    for (let i = 0; i < length; i++) {
      const document = documents[i] as number;
      const count = counts[i] as number;
      at = putVarint(bytes, at, (document - previous) * 2 + (count === 1 ? 0 : 1));
      if (count !== 1) at = putVarint(bytes, at, count);
      previous = document;
    }
    this.#postings.wrote(at);
  }

  /** A record per chunk; a table of their addresses is among the short lists. */
  #addLong(
    length: number,
    documents: Uint32Array,
    counts: Uint8Array,
    positions: Uint8Array,
  ): void {
    const reader = new ByteReader(positions);
    let previousChunk = 0;
    for (let from = 0; from < length; ) {
      const chunk = Math.floor((documents[from] as number) / CHUNK_DOCUMENTS);
      const to = lowerBound(documents, (chunk + 1) * CHUNK_DOCUMENTS, from, length);
      this.#chunkList(documents, counts, from, to, chunk);
      const list = this.#packers.postings.addWritten(this.#record);
      this.#chunkPositions(counts, from, to, reader, positions);
      const places = this.#addPositions(this.#record);
      this.#postings.varint(chunk - previousChunk);
      this.#postings.varint(to - from);
      writeAddress(this.#postings, list);
      writeAddress(this.#postings, places);
      previousChunk = chunk;
      from = to;
    }
  }

  /** Writes the record of a chunk's postings. */
  #chunkList(
    documents: Uint32Array,
    counts: Uint8Array,
    from: number,
    to: number,
    chunk: number,
  ): void {
    const base = chunk * CHUNK_DOCUMENTS;
    const record = this.#record;
    const isWindowed = to - from >= WINDOWED_LIST;
    const bounds = this.#bounds;
    const triples: number[] = [];
    const tripleStarts: number[] = [0];
    const windows: number[] = [0];
    const places = new Uint16Array(to - from);
    const { roles, lengths } = this.#norms;
    for (let window = 1, at = from; window <= CHUNK_WINDOWS; window++) {
      const end = lowerBound(documents, base + window * WINDOW_DOCUMENTS, at, to);
      for (; at < end; at++) {
        const document = documents[at] as number;
        places[at - from] = document - base;
        bounds.add(counts[at] as number, roles[document] as number, lengths[document] as number);
      }
      windows.push(at - from);
      if (!isWindowed && window < CHUNK_WINDOWS) continue;
      triples.push(...bounds.take());
      tripleStarts.push(triples.length);
    }

    const packed = packCounts(counts, from, to);
    const dense = isDense(to - from) ? packDense(places) : undefined;
    const kind = dense === undefined ? 0 : DENSE_LIST;
    record.u32(tripleStarts.length | (packed.large.size << 8) | kind);
    for (const start of windows) record.u32(start);
    for (const triple of triples) record.u32(triple);
    if (dense !== undefined) {
      record.array(dense.bits);
      record.array(dense.ranks);
    }
    for (const start of tripleStarts) record.u16(start);
    if (dense === undefined) record.array(places);
    record.bytes(packed.counts);
    for (const [place, count] of packed.large) {
      record.u16(place);
      record.u8(count);
    }
  }

  /** Entry points at a fixed stride, then the positions of each posting. */
  #chunkPositions(
    counts: Uint8Array,
    from: number,
    to: number,
    reader: ByteReader,
    positions: Uint8Array,
  ): void {
    const start = reader.at;
    for (let i = from; i < to; ) {
      this.#record.u32(reader.at - start);
      let inStride = 0;
      for (const end = Math.min(to, i + POSITIONS_STRIDE); i < end; i++) {
        inStride += counts[i] as number;
      }
      reader.skipVarints(inStride);
    }
    this.#record.copy(positions, start, reader.at);
  }

  #closeBlock(): void {
    this.#index.varint(this.#first.length);
    this.#index.copy(this.#first.bytes, 0, this.#first.length);
    writeAddress(this.#index, this.#packers.dictionary.addWritten(this.#entries));
    writeAddress(this.#index, this.#packers.postings.addWritten(this.#postings));
    writeAddress(this.#index, this.#addPositions(this.#positions));
    this.#inBlock = 0;
  }

  #addPositions(record: ByteWriter): Address {
    this.positionBytes += record.length;
    return this.#packers.positions.addWritten(record);
  }
}

export function writeAddress(writer: ByteWriter, [blob, offset, length]: Address): void {
  writer.varint(blob);
  writer.varint(offset);
  writer.varint(length);
}

export function readAddress(reader: ByteReader): Address {
  return [reader.varint(), reader.varint(), reader.varint()];
}
