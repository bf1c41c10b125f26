/**
 * Iterates over the terms of one field of a stored segment.
 *
 * A merge visits every term of every input, most with a posting or two. So terms are decoded
 * without an object each; `SegmentReader` is for single look-ups.
 */

import type { Blobs } from "../blobs.ts";
import { ByteReader } from "../bytes.ts";
import { readAddress } from "../field-writer.ts";
import type { Address, Field } from "../layout.ts";
import type { SegmentReader } from "../segment-reader.ts";
import { SegmentTerm } from "../segment-term.ts";
import { bytesOf, KEY_BYTES, TermBytes, termKey } from "./term-bytes.ts";

const NOTHING = new Uint8Array(0);

/** A reusable buffer for records. */
class RecordRoom {
  #bytes = NOTHING;

  /** Valid until the next call. */
  copy(record: Uint8Array): Uint8Array {
    if (record.length > this.#bytes.length) this.#bytes = new Uint8Array(2 * record.length);
    this.#bytes.set(record);
    return this.#bytes.subarray(0, record.length);
  }
}

export class TermCursor {
  /** The current term. */
  readonly term: TermBytes = new TermBytes();
  /** Documents that contain it, deleted ones included. */
  documents = 0;
  isLong = false;
  /** The postings of a short list, between the two offsets; and its positions. */
  postings: Uint8Array = NOTHING;
  postingsFrom = 0;
  postingsTo = 0;
  positions: Uint8Array = NOTHING;
  positionsFrom = 0;
  positionsTo = 0;
  /** Monotonic in the term; equal for terms with an equal prefix. */
  key = 0;
  readonly #segment: number;
  readonly #dictionary: Address;
  readonly #blobs: Blobs;
  /** Records are copied, so that a standing cursor keeps no evicted blob in memory. */
  readonly #room = [new RecordRoom(), new RecordRoom(), new RecordRoom()] as const;
  /** The remaining list of blocks; undefined before the first. */
  #blocks: ByteReader | undefined;
  #entries = new ByteReader(NOTHING);
  /** The bytes that `#entries` reads: the current block. */
  #bytes: Uint8Array = NOTHING;
  /** Whether the term is known to be ASCII. */
  #isAscii = true;
  #postingsAddress: Address = [0, 0, 0];
  #positionsAddress: Address = [0, 0, 0];

  constructor(field: Field, reader: SegmentReader, blobs: Blobs) {
    this.#segment = reader.segment;
    this.#dictionary = reader.field(field).dictionary;
    this.#blobs = blobs;
  }

  /** Advances within the current block. False at its end: see `load`. */
  next(): boolean {
    const entries = this.#entries;
    if (entries.done) return false;
    const units = entries.varint();
    const shared = this.#isAscii ? units : bytesOf(this.term, units);
    const length = entries.varint();
    this.term.reserve(shared + length);
    const { bytes } = this.term;
    const from = this.#bytes;
    let all = 0;
    for (let i = 0, at = entries.at; i < length; i++, at++) {
      const byte = from[at] as number;
      bytes[shared + i] = byte;
      all |= byte;
    }
    entries.at += length;
    this.term.length = shared + length;
    // Blobs may have been evicted: false negatives are possible, false positives are not.
    this.#isAscii = (shared === 0 || this.#isAscii) && all < 0x80;
    if (shared < KEY_BYTES) this.key = termKey(this.term);
    const count = entries.varint();
    this.documents = count >>> 1;
    this.isLong = (count & 1) === 1;
    this.postingsFrom = this.postingsTo;
    this.postingsTo += entries.varint();
    this.positionsFrom = this.positionsTo;
    this.positionsTo += entries.varint();
    return true;
  }

  /**
   * Advances to the first term of the next block, or past the end, where the key is infinite. An
   * attempt: with a missing blob, it stays and gives false.
   */
  load(): boolean {
    if (this.#blocks === undefined) {
      const index = this.#blobs.record(this.#segment, this.#dictionary);
      if (index === undefined) return false;
      this.#blocks = new ByteReader(index);
    }
    const blocks = this.#blocks;
    const start = blocks.at;
    if (blocks.done) {
      this.key = Number.POSITIVE_INFINITY;
      return true;
    }
    const firstTerm = blocks.varint();
    blocks.at += firstTerm;
    const addresses = [readAddress(blocks), readAddress(blocks), readAddress(blocks)] as const;
    const [entries, postings, positions] = addresses.map((address) =>
      this.#blobs.record(this.#segment, address),
    );
    if (entries === undefined || postings === undefined || positions === undefined) {
      blocks.at = start;
      return false;
    }
    const [entriesRoom, postingsRoom, positionsRoom] = this.#room;
    this.#bytes = entriesRoom.copy(entries);
    this.#entries = new ByteReader(this.#bytes);
    [, this.#postingsAddress, this.#positionsAddress] = addresses;
    this.postings = postingsRoom.copy(postings);
    this.positions = positionsRoom.copy(positions);
    this.postingsTo = 0;
    this.positionsTo = 0;
    return this.next();
  }

  /** The current term, for readers of more than its bytes. */
  segmentTerm(): SegmentTerm {
    const postings = partOf(this.#postingsAddress, this.postingsFrom, this.postingsTo);
    const positions = partOf(this.#positionsAddress, this.positionsFrom, this.positionsTo);
    const { documents, isLong } = this;
    const entry = { term: "", documents, isLong, postings, positions };
    return new SegmentTerm(this.#segment, entry, this.#blobs);
  }
}

function partOf([blob, offset]: Address, from: number, to: number): Address {
  return [blob, offset + from, to - from];
}
