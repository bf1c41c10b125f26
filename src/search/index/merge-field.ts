/** Merges one field of several segments: a k-way merge of their dictionaries. */

import type { SansIo } from "../port.ts";
import type { Blobs } from "./blobs.ts";
import type { FieldWriter } from "./field-writer.ts";
import type { Field } from "./layout.ts";
import { PostingMerger, type PostingSource, turnsOf } from "./lists/posting-merger.ts";
import type { Renumbering } from "./renumbering.ts";
import type { SegmentReader } from "./segment-reader.ts";
import { compareTerms } from "./terms/term-bytes.ts";
import { TermCursor } from "./terms/term-cursor.ts";

/** Terms, and bytes of their positions, between two yields that release memory. */
const STRIDE = 1_024;
const STRIDE_BYTES = 1024 * 1024;

/** `documents`: the number of merged documents. */
export function* mergeField(
  field: Field,
  readers: readonly SegmentReader[],
  renumbering: Renumbering,
  documents: number,
  writer: FieldWriter,
  blobs: Blobs,
  pause: () => SansIo<void>,
): SansIo<void> {
  const sources = readers.map((reader, i) => ({
    index: i,
    cursor: new TermCursor(field, reader, blobs),
    numbers: renumbering[i] as Uint32Array,
    turns: turnsOf(renumbering[i] as Uint32Array),
  }));
  const walk = new Walk(sources, writer, documents);
  while (!walk.isOver) {
    yield* pause();
    blobs.release();
    walk.begin();
    yield* blobs.complete(() => walk.advance());
  }
}

interface Source extends PostingSource {
  readonly index: number;
}

/** Walks the terms of all sources in ascending order, and writes each with its postings. */
class Walk {
  readonly #sources: readonly Source[];
  readonly #writer: FieldWriter;
  readonly #merger: PostingMerger;
  /** The keys of the current terms, as a typed array for fast comparison. */
  readonly #keys: Float64Array;
  /** Sources whose cursor needs the next block. */
  #waiting: Source[];
  readonly #having: Source[] = [];
  #terms = 0;
  #bytes = 0;
  isOver = false;

  constructor(sources: readonly Source[], writer: FieldWriter, documents: number) {
    this.#merger = new PostingMerger(documents);
    this.#sources = sources;
    this.#writer = writer;
    this.#keys = new Float64Array(sources.length);
    this.#waiting = [...sources];
  }

  /** Begins a stride. */
  begin(): void {
    this.#terms = 0;
    this.#bytes = 0;
  }

  /**
   * Continues to the end of the stride, or of all. An attempt: it stops at a missing blob, and
   * continues from there.
   */
  advance(): void {
    while (this.#terms < STRIDE && this.#bytes < STRIDE_BYTES) {
      if (this.#waiting.length > 0 && !this.#load()) return;
      this.#gatherFirst();
      const [first] = this.#having;
      if (first === undefined) {
        this.isOver = true;
        return;
      }
      const merged = this.#merger.merge(this.#having);
      if (merged === undefined) return;
      if (merged.count > 0) {
        const { count, documents, counts, positions } = merged;
        const { room, length } = positions;
        this.#writer.add(first.cursor.term, count, documents, counts, room, length);
        this.#bytes += length;
      }
      this.#terms++;
      for (let i = 0; i < this.#having.length; i++) this.#advance(this.#having[i] as Source);
    }
  }

  #advance(source: Source): void {
    if (source.cursor.next()) this.#keys[source.index] = source.cursor.key;
    else this.#waiting.push(source);
  }

  /** All waiting cursors request their blobs, so that they are fetched together. */
  #load(): boolean {
    this.#waiting = this.#waiting.filter(({ cursor, index }) => {
      if (!cursor.load()) return true;
      this.#keys[index] = cursor.key;
      return false;
    });
    return this.#waiting.length === 0;
  }

  /** The cursors at the least term, oldest first. None: the walk is over. */
  #gatherFirst(): void {
    const keys = this.#keys;
    const having = this.#having;
    having.length = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as number;
      if (key > least || key === Number.POSITIVE_INFINITY) continue;
      const source = this.#sources[i] as Source;
      const first = key < least ? undefined : (having[0] as Source).cursor;
      const order = first === undefined ? -1 : compareTerms(source.cursor.term, first.term);
      if (order > 0) continue;
      if (order < 0) having.length = 0;
      least = key;
      having.push(source);
    }
  }
}
