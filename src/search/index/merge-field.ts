/** Joins one field of several segments: a walk over their dictionaries, side by side. */

import type { Asking } from "../port.ts";
import type { Blobs } from "./blobs.ts";
import { ByteWriter } from "./bytes.ts";
import type { FieldWriter } from "./field-writer.ts";
import { CHUNK_DOCUMENTS, type Field } from "./layout.ts";
import { OwnPostings, Postings } from "./lists/joined-postings.ts";
import { countAt } from "./lists/packed-counts.ts";
import { documentsOf, type TermList } from "./lists/term-list.ts";
import { DROPPED, type Renumbering } from "./renumbering.ts";
import type { SegmentReader } from "./segment-reader.ts";
import type { SegmentTerm } from "./segment-term.ts";
import { compareTerms } from "./terms/term-bytes.ts";
import { TermCursor } from "./terms/term-cursor.ts";

/** Terms between two moments at which memory is let go and others may run. */
const STRIDE = 1_024;

/** `documents`: how many there are when they are joined. */
export function* mergeField(
  field: Field,
  readers: readonly SegmentReader[],
  renumbering: Renumbering,
  documents: number,
  writer: FieldWriter,
  blobs: Blobs,
  pause: () => Asking<void>,
): Asking<void> {
  const sources = readers.map((reader, i) => ({
    index: i,
    cursor: new TermCursor(field, reader, blobs),
    numbers: renumbering[i] as Uint32Array,
  }));
  const walk = new Walk(sources, writer, documents);
  for (let terms = STRIDE; ; terms += STRIDE) {
    yield* pause();
    blobs.release();
    if (yield* blobs.complete(() => walk.goOn(terms))) return;
  }
}

interface Source {
  readonly index: number;
  readonly cursor: TermCursor;
  readonly numbers: Uint32Array;
}

/** Goes through the terms of all sources, the least first, and writes each with its postings. */
class Walk {
  readonly #sources: readonly Source[];
  readonly #writer: FieldWriter;
  readonly #joiner: Joiner;
  /** The keys of the terms that the cursors stand at: side by side they are compared at once. */
  readonly #keys: Float64Array;
  /** Those that are at the end of what they have at hand. */
  #waiting: Source[];
  readonly #having: Source[] = [];
  #terms = 0;

  constructor(sources: readonly Source[], writer: FieldWriter, documents: number) {
    this.#joiner = new Joiner(documents);
    this.#sources = sources;
    this.#writer = writer;
    this.#keys = new Float64Array(sources.length);
    this.#waiting = [...sources];
  }

  /**
   * Goes on until so many terms were written, and tells whether all were. An attempt: if a blob is
   * missing it stops there, and goes on from there the next time.
   */
  goOn(terms: number): boolean {
    while (this.#terms < terms) {
      if (this.#waiting.length > 0 && !this.#load()) return false;
      this.#gatherFirst();
      const [first] = this.#having;
      if (first === undefined) return true;
      const joined = this.#joiner.join(this.#having);
      if (joined === undefined) return false;
      if (joined.count > 0) {
        const { count, documents, counts, bytes, byteLength } = joined;
        this.#writer.add(first.cursor.term, count, documents, counts, bytes, byteLength);
      }
      this.#terms++;
      for (let i = 0; i < this.#having.length; i++) this.#advance(this.#having[i] as Source);
    }
    return false;
  }

  #advance(source: Source): void {
    if (source.cursor.next()) this.#keys[source.index] = source.cursor.key;
    else this.#waiting.push(source);
  }

  /** All that wait ask, so that what is missing is fetched at once. */
  #load(): boolean {
    this.#waiting = this.#waiting.filter(({ cursor, index }) => {
      if (!cursor.load()) return true;
      this.#keys[index] = cursor.key;
      return false;
    });
    return this.#waiting.length === 0;
  }

  /** Those that stand at the least of all terms, the oldest first. None: all are over. */
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

/** Joins the postings of one term after another. What it gives is valid until the next. */
class Joiner {
  readonly #lists: OwnPostings[] = [];
  readonly #joined = new Postings();
  readonly #positions = new ByteWriter();
  readonly #long = new ByteWriter();

  constructor(documents: number) {
    // No list is longer. Rooms that grew would wait for the collector of garbage, one after another.
    this.#joined.reserve(documents);
  }

  /** Undefined if a blob is missing. */
  join(sources: readonly Source[]): Postings | undefined {
    let total = 0;
    for (const { cursor } of sources) total += cursor.documents;
    this.#joined.reserve(total);
    this.#joined.count = 0;
    this.#positions.clear();
    for (const source of sources) {
      const isAdded = source.cursor.isLong ? this.#addLong(source) : this.#addShort(source);
      if (isAdded === undefined) return undefined;
      // Something was dropped, or comes before what another source has: posting by posting, then.
      if (!isAdded) return this.#joinParts(sources);
    }
    this.#joined.bytes = this.#positions.room;
    this.#joined.byteLength = this.#positions.length;
    return this.#joined;
  }

  /** Adds a list as it is, with all of its positions at once. False if that cannot be. */
  #addShort({ cursor, numbers }: Source): boolean {
    const { postings, documents: length } = cursor;
    const { documents, counts, count: before } = this.#joined;
    let last = before === 0 ? -1 : (documents[before - 1] as number);
    let at = cursor.postingsFrom;
    let own = 0;
    for (let i = before; i < before + length; i++) {
      let byte = postings[at++] as number;
      let delta = byte & 0x7f;
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = postings[at++] as number;
        delta |= (byte & 0x7f) << shift;
      }
      own += delta >>> 1;
      let count = 1;
      if ((delta & 1) === 1) {
        // At most 255.
        count = postings[at++] as number;
        if (count >= 0x80) count = (count & 0x7f) | ((postings[at++] as number) << 7);
      }
      const document = numbers[own] as number;
      if (document === DROPPED || document <= last) return false;
      last = document;
      documents[i] = document;
      counts[i] = count;
    }
    this.#joined.count = before + length;
    this.#positions.copy(cursor.positions, cursor.positionsFrom, cursor.positionsTo);
    return true;
  }

  /** Undefined if a blob is missing. */
  #addLong({ cursor, numbers }: Source): boolean | undefined {
    const term = cursor.segmentTerm();
    const table = term.table();
    if (table === undefined) return undefined;
    // All are asked for, so that what is missing is fetched at once.
    const chunks = table.map((part) => ({
      base: part.chunk * CHUNK_DOCUMENTS,
      list: term.part(part),
      bytes: term.positionBytes(part),
    }));
    for (const { base, list, bytes } of chunks) {
      if (list === undefined || bytes === undefined) return undefined;
      const documents = documentsOf(list);
      for (let i = 0; i < list.count; i++) {
        const document = numbers[base + (documents[i] as number)] as number;
        if (!this.#joined.push(document, countAt(list, i))) return false;
      }
      this.#positions.bytes(bytes);
    }
    return true;
  }

  /** Undefined if a blob is missing: one that a cursor has read may have been let go of since. */
  #joinParts(sources: readonly Source[]): Postings | undefined {
    let total = 0;
    for (const [i, { cursor, numbers }] of sources.entries()) {
      this.#lists[i] ??= new OwnPostings();
      const list = this.#lists[i] as OwnPostings;
      list.reserve(cursor.documents);
      if (!cursor.isLong) readShort(cursor, numbers, list);
      else if (!this.#readLong(cursor.segmentTerm(), numbers, list)) return undefined;
      total += list.count;
    }
    this.#merge(sources.length, total);
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
        const list = this.#lists[i] as OwnPostings;
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
      const list = this.#lists[from] as OwnPostings;
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
  #readLong(term: SegmentTerm, numbers: Uint32Array, into: OwnPostings): boolean {
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
    return true;
  }
}

/** The same for a short list, whose bytes are at hand. */
function readShort(cursor: TermCursor, numbers: Uint32Array, into: OwnPostings): void {
  const { postings, positions } = cursor;
  let at = cursor.postingsFrom;
  let end = cursor.positionsFrom;
  let own = 0;
  let added = 0;
  for (let i = 0; i < cursor.documents; i++) {
    let byte = postings[at++] as number;
    let delta = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = postings[at++] as number;
      delta |= (byte & 0x7f) << shift;
    }
    own += delta >>> 1;
    let count = 1;
    if ((delta & 1) === 1) {
      // At most 255.
      count = postings[at++] as number;
      if (count >= 0x80) count = (count & 0x7f) | ((postings[at++] as number) << 7);
    }
    const start = end;
    for (let left = count; left > 0; end++) if ((positions[end] as number) < 0x80) left--;
    const document = numbers[own] as number;
    if (document === DROPPED) continue;
    into.documents[added] = document;
    into.counts[added] = count;
    into.starts[added] = start;
    into.ends[added] = end;
    added++;
  }
  into.count = added;
  into.bytes = positions;
}

function unpacked(list: TermList | undefined): UnpackedList | undefined {
  if (list === undefined) return undefined;
  const counts = new Uint8Array(list.count);
  for (let i = 0; i < list.count; i++) counts[i] = countAt(list, i);
  return { documents: documentsOf(list), counts };
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
  into: OwnPostings,
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
