/** One term of a stored segment. */

import type { Blobs } from "./blobs.ts";
import { ByteReader, u32View } from "./bytes.ts";
import type { TermEntry } from "./dictionary.ts";
import { CHUNK_DOCUMENTS, POSITIONS_STRIDE } from "./layout.ts";
import { countAt } from "./lists/packed-counts.ts";
import {
  chunkOfShort,
  type LongListChunk,
  readLongChunk,
  readLongTable,
  readShortList,
  type ShortList,
} from "./lists/read-list.ts";
import { lowerBound, placeOf, type TermList } from "./lists/term-list.ts";
import type { FoundTerm } from "./source.ts";

export class SegmentTerm implements FoundTerm {
  readonly entry: TermEntry;
  readonly #segment: number;
  readonly #blobs: Blobs;
  /** Read for every chunk. */
  #short: ShortList | undefined;
  #table: readonly LongListChunk[] | undefined;

  constructor(segment: number, entry: TermEntry, blobs: Blobs) {
    this.#segment = segment;
    this.entry = entry;
    this.#blobs = blobs;
  }

  get documents(): number {
    return this.entry.documents;
  }

  list(chunk: number): TermList | null | undefined {
    if (!this.entry.isLong) {
      const list = this.short();
      if (list === undefined) return undefined;
      const base = chunk * CHUNK_DOCUMENTS;
      const { documents } = list;
      const from = lowerBound(documents, base, 0, documents.length);
      const to = lowerBound(documents, base + CHUNK_DOCUMENTS, from, documents.length);
      return from === to ? null : chunkOfShort(list, from, to, base);
    }
    const table = this.table();
    if (table === undefined) return undefined;
    // A frequent term is in every chunk.
    const part =
      table[chunk]?.chunk === chunk ? table[chunk] : table.find((each) => each.chunk === chunk);
    return part === undefined ? null : this.part(part);
  }

  /** Its positions in a document that contains it. */
  positions(document: number): readonly number[] | undefined {
    if (!this.entry.isLong) {
      const list = this.short();
      const bytes = this.#blobs.record(this.#segment, this.entry.positions);
      if (list === undefined || bytes === undefined) return undefined;
      const at = lowerBound(list.documents, document, 0, list.documents.length);
      const countOf = (place: number) => list.counts[place] as number;
      return readPositions(new ByteReader(bytes), countOf, 0, at);
    }
    const chunk = Math.floor(document / CHUNK_DOCUMENTS);
    const part = this.table()?.find((each) => each.chunk === chunk);
    const list = part && this.part(part);
    const bytes = part && this.#blobs.record(this.#segment, part.positions);
    if (list === undefined || bytes === undefined) return undefined;
    const at = placeOf(list, document % CHUNK_DOCUMENTS);
    const strides = Math.ceil(list.count / POSITIONS_STRIDE);
    const stride = Math.floor(at / POSITIONS_STRIDE);
    const entryPoint = u32View(bytes, 0, strides)[stride] as number;
    const reader = new ByteReader(bytes, 4 * strides + entryPoint);
    const countOf = (place: number) => countAt(list, place);
    return readPositions(reader, countOf, stride * POSITIONS_STRIDE, at);
  }

  /** All postings of a short list. */
  short(): ShortList | undefined {
    if (this.#short !== undefined) return this.#short;
    const bytes = this.#blobs.record(this.#segment, this.entry.postings);
    this.#short = bytes && readShortList(bytes, this.entry.documents);
    return this.#short;
  }

  /** The chunks of a long list. */
  table(): readonly LongListChunk[] | undefined {
    if (this.#table !== undefined) return this.#table;
    this.#table = this.#blobs.view(this.#segment, this.entry.postings, readLongTable);
    return this.#table;
  }

  part(part: LongListChunk): TermList | undefined {
    return this.#blobs.view(this.#segment, part.list, (bytes) => readLongChunk(bytes, part.count));
  }

  /** The position bytes of a short list, or of a chunk of a long one, without entry points. */
  positionBytes(part?: LongListChunk): Uint8Array | undefined {
    if (part === undefined) return this.#blobs.record(this.#segment, this.entry.positions);
    const bytes = this.#blobs.record(this.#segment, part.positions);
    return bytes?.subarray(4 * Math.ceil(part.count / POSITIONS_STRIDE));
  }
}

/** The positions of posting `at`, in a stream that begins at posting `from`. */
function readPositions(
  reader: ByteReader,
  countOf: (place: number) => number,
  from: number,
  at: number,
): readonly number[] {
  let before = 0;
  for (let i = from; i < at; i++) before += countOf(i);
  reader.skipVarints(before);
  const positions: number[] = [];
  let position = 0;
  for (let left = countOf(at); left > 0; left--) {
    position += reader.varint();
    positions.push(position);
  }
  return positions;
}
