/** Joins one field of several segments: a walk over their dictionaries, side by side. */

import type { Asking } from "../port.ts";
import type { Blobs } from "./blobs.ts";
import { ByteWriter } from "./bytes.ts";
import type { TermEntry } from "./dictionary.ts";
import type { FieldWriter } from "./field-writer.ts";
import { CHUNK_DOCUMENTS, type Field } from "./layout.ts";
import { countAt } from "./packed-counts.ts";
import { DROPPED, type Renumbering } from "./renumbering.ts";
import type { SegmentReader } from "./segment-reader.ts";
import { SegmentTerm } from "./segment-term.ts";
import type { TermList } from "./term-list.ts";
import { TermBytes } from "./terms/term-bytes.ts";

/** Terms between two moments at which memory is let go and others may run. */
const STRIDE = 256;

export function* mergeField(
  field: Field,
  readers: readonly SegmentReader[],
  renumbering: Renumbering,
  writer: FieldWriter,
  blobs: Blobs,
  pause: () => Asking<void>,
): Asking<void> {
  const cursors = readers.map((reader) => new Cursor(field, reader));
  const joiner = new Joiner();
  const name = new TermBytes();
  for (let terms = 0; ; terms++) {
    if (terms % STRIDE === 0) {
      yield* pause();
      blobs.release();
    }
    yield* blobs.complete(() => cursors.map((cursor) => cursor.load()));
    let term: string | undefined;
    for (const { current } of cursors) {
      if (current !== undefined && (term === undefined || current.term < term)) term = current.term;
    }
    if (term === undefined) return;
    const having = cursors.filter(({ current }) => current?.term === term);
    const joined = yield* blobs.complete(() =>
      joiner.join(
        having.map((cursor) => ({
          term: new SegmentTerm(cursor.segment, cursor.current as TermEntry, blobs),
          numbers: renumbering[cursors.indexOf(cursor)] as Uint32Array,
        })),
      ),
    );
    if (joined !== undefined && joined.count > 0) {
      name.set(term);
      const { count, documents, counts, bytes, byteLength } = joined;
      writer.add(name, count, documents, counts, bytes, byteLength);
    }
    for (const cursor of having) cursor.advance();
  }
}

/** The terms of one segment, in order. */
class Cursor {
  readonly segment: number;
  current: TermEntry | undefined;
  readonly #field: Field;
  readonly #reader: SegmentReader;
  #block = -1;
  #entries: readonly TermEntry[] = [];
  #at = 0;

  constructor(field: Field, reader: SegmentReader) {
    this.segment = reader.segment;
    this.#field = field;
    this.#reader = reader;
  }

  /** Makes `current` the next term, if its block is at hand. Undefined `current`: the end. */
  load(): void {
    if (this.#at < this.#entries.length) return;
    const index = this.#reader.dictionary(this.#field);
    if (index === undefined || this.#block + 1 >= index.blocks.length) return;
    const entries = this.#reader.block(this.#field, index, this.#block + 1);
    if (entries === undefined) return;
    this.#block++;
    this.#entries = [...entries.values()];
    this.#at = 0;
    this.current = this.#entries[0];
  }

  advance(): void {
    this.#at++;
    this.current = this.#entries[this.#at];
  }
}

interface Part {
  readonly term: SegmentTerm;
  readonly numbers: Uint32Array;
}

/** The postings of a term in one segment, under their new numbers. Used again for each term. */
class Postings {
  count = 0;
  documents = new Uint32Array(64);
  counts = new Uint8Array(64);
  /** Where the positions of each posting begin and end in `bytes`. */
  starts = new Uint32Array(64);
  ends = new Uint32Array(64);
  bytes: Uint8Array = new Uint8Array(0);
  byteLength = 0;

  reserve(count: number): void {
    if (count <= this.documents.length) return;
    const size = Math.max(count, 2 * this.documents.length);
    this.documents = new Uint32Array(size);
    this.counts = new Uint8Array(size);
    this.starts = new Uint32Array(size);
    this.ends = new Uint32Array(size);
  }
}

/** Joins the postings of one term after another. What it gives is valid until the next. */
class Joiner {
  readonly #lists: Postings[] = [];
  readonly #joined = new Postings();
  readonly #positions = new ByteWriter();
  readonly #long = new ByteWriter();

  /** Undefined if a blob is missing. */
  join(parts: readonly Part[]): Postings | undefined {
    let total = 0;
    for (const [i, part] of parts.entries()) {
      this.#lists[i] ??= new Postings();
      const list = this.#lists[i] as Postings;
      if (!this.#read(part, list)) return undefined;
      total += list.count;
    }
    const [only] = this.#lists;
    // Nothing was dropped: then even the positions can go as they are.
    if (only !== undefined && parts.length === 1 && total === parts[0]?.term.documents) return only;
    this.#merge(parts.length, total);
    return this.#joined;
  }

  #merge(sources: number, total: number): void {
    const joined = this.#joined;
    joined.reserve(total);
    this.#positions.clear();
    const next = new Array<number>(sources).fill(0);
    for (let filled = 0; filled < total; ) {
      // A source keeps its turn for a whole session, so the others are looked at once a run.
      let from = 0;
      let least = DROPPED;
      let second = DROPPED;
      for (let i = 0; i < sources; i++) {
        const list = this.#lists[i] as Postings;
        const at = next[i] as number;
        const document = at < list.count ? (list.documents[at] as number) : DROPPED;
        if (document < least) {
          second = least;
          least = document;
          from = i;
        } else if (document < second) {
          second = document;
        }
      }
      const list = this.#lists[from] as Postings;
      let at = next[from] as number;
      const start = list.starts[at] as number;
      let end = start;
      while (at < list.count && (list.documents[at] as number) < second) {
        if ((list.starts[at] as number) !== end) break;
        joined.documents[filled] = list.documents[at] as number;
        joined.counts[filled] = list.counts[at] as number;
        end = list.ends[at] as number;
        filled++;
        at++;
      }
      this.#positions.copy(list.bytes, start, end);
      next[from] = at;
    }
    joined.count = total;
    joined.bytes = this.#positions.room;
    joined.byteLength = this.#positions.length;
  }

  /** Reads all postings of a term and renumbers them; dropped ones are left out. */
  #read({ term, numbers }: Part, into: Postings): boolean {
    into.reserve(term.documents);
    if (!term.entry.isLong) {
      const list = term.short();
      const bytes = term.positionBytes();
      if (list === undefined || bytes === undefined) return false;
      into.count = renumber(list, 0, numbers, bytes, 0, into, 0);
      into.bytes = bytes;
      into.byteLength = bytes.length;
      return true;
    }
    const table = term.table();
    if (table === undefined) return false;
    const chunks = table.map((part) => ({
      base: part.chunk * CHUNK_DOCUMENTS,
      list: unpacked(term.part(part)),
      bytes: term.positionBytes(part),
    }));
    const positions = chunks.length > 1 ? this.#long : undefined;
    into.count = 0;
    let before = 0;
    for (const { base, list, bytes } of chunks) {
      if (list === undefined || bytes === undefined) {
        positions?.clear();
        return false;
      }
      into.count = renumber(list, base, numbers, bytes, before, into, into.count);
      before += bytes.length;
      positions?.bytes(bytes);
      into.bytes = bytes;
    }
    if (positions !== undefined) into.bytes = positions.take();
    into.byteLength = into.bytes.length;
    return true;
  }
}

function unpacked(list: TermList | undefined): UnpackedList | undefined {
  if (list === undefined) return undefined;
  const counts = new Uint8Array(list.count);
  for (let i = 0; i < list.count; i++) counts[i] = countAt(list, i);
  return { documents: list.documents, counts };
}

interface UnpackedList {
  readonly documents: ArrayLike<number>;
  readonly counts: Uint8Array;
}

/** Adds the postings of a list to `into`, from place `count`. Gives the new count. */
function renumber(
  list: UnpackedList,
  base: number,
  numbers: Uint32Array,
  bytes: Uint8Array,
  bytesBefore: number,
  into: Postings,
  count: number,
): number {
  let added = count;
  let at = 0;
  for (let i = 0; i < list.documents.length; i++) {
    const times = list.counts[i] as number;
    const start = at;
    for (let left = times; left > 0; at++) if ((bytes[at] as number) < 0x80) left--;
    const document = numbers[base + (list.documents[i] as number)] as number;
    if (document === DROPPED) continue;
    into.documents[added] = document;
    into.counts[added] = times;
    into.starts[added] = bytesBefore + start;
    into.ends[added] = bytesBefore + at;
    added++;
  }
  return added;
}
