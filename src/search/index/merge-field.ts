/** Joins one field of several segments: a walk over their dictionaries, side by side. */

import type { Asking } from "../port.ts";
import type { Blobs } from "./blobs.ts";
import { ByteWriter } from "./bytes.ts";
import type { TermEntry } from "./dictionary.ts";
import type { FieldWriter } from "./field-writer.ts";
import { CHUNK_DOCUMENTS, type Field } from "./layout.ts";
import { DROPPED, type Renumbering } from "./renumbering.ts";
import type { SegmentReader } from "./segment-reader.ts";
import { SegmentTerm } from "./segment-term.ts";

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
      joinPostings(
        having.map((cursor) => ({
          term: new SegmentTerm(cursor.segment, cursor.current as TermEntry, blobs),
          numbers: renumbering[cursors.indexOf(cursor)] as Uint32Array,
        })),
      ),
    );
    if (joined !== undefined && joined.count > 0) {
      writer.add(term, joined.count, joined.documents, joined.counts, joined.positions);
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

/** The postings of a term under their new numbers. */
interface Postings {
  readonly count: number;
  readonly documents: Uint32Array;
  readonly counts: Uint8Array;
  /** Where the positions of each posting begin and end in `bytes`. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

interface JoinedPostings {
  readonly count: number;
  readonly documents: Uint32Array;
  readonly counts: Uint8Array;
  readonly positions: Uint8Array;
}

function joinPostings(parts: readonly Part[]): JoinedPostings | undefined {
  const lists: Postings[] = [];
  for (const { term, numbers } of parts) {
    const list = readPostings(term, numbers);
    if (list === undefined) return undefined;
    lists.push(list);
  }
  const count = lists.reduce((total, list) => total + list.count, 0);
  const documents = new Uint32Array(count);
  const counts = new Uint8Array(count);
  const positions = new ByteWriter();
  const next = new Uint32Array(lists.length);
  for (let filled = 0; filled < count; ) {
    // A source keeps its turn for a whole session, so the others are looked at once a run.
    let from = 0;
    let least = DROPPED;
    let second = DROPPED;
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i] as Postings;
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
    const list = lists[from] as Postings;
    let at = next[from] as number;
    const start = list.starts[at] as number;
    let end = start;
    while (at < list.count && (list.documents[at] as number) < second) {
      if ((list.starts[at] as number) !== end) break;
      documents[filled] = list.documents[at] as number;
      counts[filled] = list.counts[at] as number;
      end = list.ends[at] as number;
      filled++;
      at++;
    }
    positions.copy(list.bytes, start, end);
    next[from] = at;
  }
  return { count, documents, counts, positions: positions.view() };
}

/** Reads all postings of a term and renumbers them; dropped ones are left out. */
function readPostings(term: SegmentTerm, numbers: Uint32Array): Postings | undefined {
  const { documents: total, isLong } = term.entry;
  const postings = {
    documents: new Uint32Array(total),
    counts: new Uint8Array(total),
    starts: new Uint32Array(total),
    ends: new Uint32Array(total),
  };
  if (!isLong) {
    const list = term.short();
    const bytes = term.positionBytes();
    if (list === undefined || bytes === undefined) return undefined;
    const count = renumber(list, 0, numbers, bytes, 0, postings, 0);
    return { ...postings, count, bytes };
  }
  const chunks = term.table()?.map((part) => ({
    base: part.chunk * CHUNK_DOCUMENTS,
    list: term.part(part),
    bytes: term.positionBytes(part),
  }));
  if (chunks === undefined) return undefined;
  const positions = new ByteWriter();
  let count = 0;
  for (const { base, list, bytes } of chunks) {
    if (list === undefined || bytes === undefined) return undefined;
    count = renumber(list, base, numbers, bytes, positions.length, postings, count);
    positions.bytes(bytes);
  }
  return { ...postings, count, bytes: positions.take() };
}

/** Adds the postings of a list to `into`, from place `count`. Gives the new count. */
function renumber(
  list: { readonly documents: ArrayLike<number>; readonly counts: Uint8Array },
  base: number,
  numbers: Uint32Array,
  bytes: Uint8Array,
  bytesBefore: number,
  into: Pick<Postings, "documents" | "counts" | "starts" | "ends">,
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
