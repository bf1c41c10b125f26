/** Assembles the blobs of a segment: columns and keys first, then the fields, then the header. */

import { BlobNumbers, BlobPacker, type PackedBlob } from "./blob-packer.ts";
import { ByteWriter, bytesOf } from "./bytes.ts";
import { FieldWriter, type Norms, type SegmentPackers, writeAddress } from "./field-writer.ts";
import {
  type Address,
  BLOB_BYTES,
  CHUNK_DOCUMENTS,
  type Field,
  type FieldHeader,
  FORMAT,
  type KeyedField,
  type MessageField,
  type SegmentHeader,
  SMALL_SEGMENT,
  SMALL_SEGMENT_WORDS,
} from "./layout.ts";
import {
  type FactsColumns,
  type MessageColumns,
  writeChunk,
  writeFacts,
} from "./message-columns.ts";

export interface SegmentKeys {
  /** Numbers of the sessions that are documents themselves, ascending. */
  readonly sessions: Uint32Array;
  readonly memories: readonly string[];
  readonly facts: readonly string[];
  /** The session of each fact; 0 if unknown. */
  readonly factSessions: Uint32Array;
}

export interface SegmentSize {
  readonly bytes: number;
  /** The part of these bytes that only phrase queries need. */
  readonly positionBytes: number;
}

/** A field under construction: its documents' lengths are known. */
export interface OpenField {
  readonly writer: FieldWriter;
  finish(): void;
}

export class SegmentWriter {
  readonly #norms: Readonly<Record<MessageField, Norms>>;
  readonly #packers: SegmentPackers;
  readonly #base: BlobPacker;
  readonly #all: readonly BlobPacker[];
  readonly #header: Omit<SegmentHeader, "facts" | "fields">;
  /** The address and time range of each block of facts. */
  readonly #facts = new ByteWriter();
  readonly #fields: Partial<Record<Field, FieldHeader>> = {};
  #bytes = 0;
  #positionBytes = 0;

  constructor(columns: MessageColumns, keys: SegmentKeys) {
    const { roles, lengths, outputs } = columns;
    this.#norms = { message: { roles, lengths }, output: { roles, lengths: outputs } };
    const numbers = new BlobNumbers();
    const target = isSmall(columns) ? Number.POSITIVE_INFINITY : BLOB_BYTES;
    const base = new BlobPacker(numbers, target);
    const packer = () => (target !== BLOB_BYTES ? base : new BlobPacker(numbers, target));
    this.#packers = { dictionary: packer(), postings: packer(), positions: packer() };
    this.#base = base;
    this.#all = [...new Set([base, ...Object.values(this.#packers)])];
    const chunk = new ByteWriter();
    this.#header = {
      format: FORMAT,
      documents: columns.count,
      messageSessions: base.add(messageSessions(columns)),
      chunks: pieces(columns.count, CHUNK_DOCUMENTS).map(([from, to]) => {
        writeChunk(columns, from, to, chunk);
        return base.addWritten(chunk);
      }),
      sessions: base.add(bytesOf(keys.sessions)),
      sessionCount: keys.sessions.length,
      memories: base.add(namesRecord(keys.memories)),
      factIds: base.add(namesRecord(keys.facts)),
      factSessions: base.add(bytesOf(keys.factSessions)),
    };
  }

  /** The facts of the next messages: a block, or the rest. */
  addFacts(facts: FactsColumns, from: number, to: number): void {
    const times = facts.times.subarray(from, to);
    writeAddress(this.#facts, this.#base.add(writeFacts(facts, from, to)));
    this.#facts.signed(times.reduce((a, b) => Math.min(a, b)));
    this.#facts.signed(times.reduce((a, b) => Math.max(a, b)));
  }

  messages(field: MessageField): OpenField {
    return this.#open(field, this.#norms[field], undefined);
  }

  keyed(field: KeyedField, lengths: Uint16Array): OpenField {
    const address = this.#packers.dictionary.add(bytesOf(lengths));
    return this.#open(field, { roles: new Uint8Array(lengths.length), lengths }, address);
  }

  /** Completed blobs, each once. */
  takeReady(): PackedBlob[] {
    return this.#counted(this.#all.flatMap((packer) => packer.takeReady()));
  }

  /** The rest, the header last. The sizes are the whole segment's. */
  finish(): { readonly blobs: PackedBlob[] } & SegmentSize {
    const facts = this.#base.addWritten(this.#facts);
    const header = { ...this.#header, facts, fields: this.#fields } as SegmentHeader;
    const blobs = this.#counted([
      ...this.#all.flatMap((packer) => packer.finish()),
      { blob: 0, bytes: new TextEncoder().encode(JSON.stringify(header)) },
    ]);
    return { blobs, bytes: this.#bytes, positionBytes: this.#positionBytes };
  }

  #open(field: Field, norms: Norms, lengths: Address | undefined): OpenField {
    const writer = new FieldWriter(this.#packers, norms);
    const finish = () => {
      this.#fields[field] = {
        documents: norms.lengths.reduce((count, length) => count + (length > 0 ? 1 : 0), 0),
        totalLength: norms.lengths.reduce((total, length) => total + length, 0),
        dictionary: writer.finish(),
        ...(lengths === undefined ? {} : { lengths }),
      };
      this.#positionBytes += writer.positionBytes;
    };
    return { writer, finish };
  }

  #counted(blobs: PackedBlob[]): PackedBlob[] {
    for (const { bytes } of blobs) this.#bytes += bytes.length;
    return blobs;
  }
}

function isSmall({ count, lengths, outputs }: MessageColumns): boolean {
  if (count >= SMALL_SEGMENT) return false;
  const sum = (all: Uint16Array) => all.reduce((total, length) => total + length, 0);
  return sum(lengths) + sum(outputs) < SMALL_SEGMENT_WORDS;
}

/** The numbers of the sessions, then the start of each. */
function messageSessions({ sessions, count }: MessageColumns): Uint8Array {
  const isFirst = (i: number) => i === 0 || sessions[i] !== sessions[i - 1];
  let length = 0;
  for (let i = 0; i < count; i++) if (isFirst(i)) length++;
  const record = new Uint32Array(2 * length);
  for (let i = 0, at = 0; i < count; i++) {
    if (!isFirst(i)) continue;
    record[at] = sessions[i] as number;
    record[length + at++] = i;
  }
  return bytesOf(record);
}

function namesRecord(names: readonly string[]): Uint8Array {
  const writer = new ByteWriter();
  for (const name of names) writer.text(name);
  return writer.take();
}

/** From 0 to `count`, in pieces of `size`. */
export function pieces(count: number, size: number): (readonly [number, number])[] {
  const result: (readonly [number, number])[] = [];
  for (let from = 0; from < count; from += size) {
    result.push([from, Math.min(count, from + size)]);
  }
  return result;
}
