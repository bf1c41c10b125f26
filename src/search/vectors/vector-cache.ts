/**
 * An LRU cache of the codes of vector segments, up to a number of bytes, with pins.
 *
 * A search pins the segments it scans, because on PostgreSQL searches of several tenants interleave
 * between two reads.
 */

import { UnreadableSegment } from "../index/blobs.ts";
import { ByteReader } from "../index/bytes.ts";
import { ask, type SansIo } from "../port.ts";
import { VectorMemory } from "./kernel.ts";
import { BLOCK, codeBytes } from "./quantize.ts";
import { readVectorColumns, type VectorColumns } from "./vector-columns.ts";
import {
  codesBlob,
  columnsBlob,
  HEADER_BLOB,
  KEYS_BLOB,
  SLAB,
  VECTOR_FORMAT,
  type VectorHeader,
} from "./vector-layout.ts";
import type { VectorSegmentInfo } from "./vector-port.ts";

/** Codes and factors of five million vectors of 384 dimensions. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Slabs per read: about four megabytes. */
const SLABS_AT_ONCE = 8;

export interface ResidentSlab {
  readonly columns: VectorColumns;
  /** The offset of the codes, the bytes of the codes, and the bytes with the factors after them. */
  readonly at: number;
  readonly codes: number;
  readonly bytes: number;
}

export interface ResidentSegment extends VectorHeader {
  readonly segment: number;
  readonly slabs: readonly ResidentSlab[];
  /** Keys of the notes, in their order. */
  readonly keys: readonly string[];
}

interface Kept extends ResidentSegment {
  pins: number;
}

export class VectorCache {
  readonly #maxBytes: number;
  #memory: VectorMemory | undefined;
  /** In LRU order: the most recently used is last. */
  readonly #segments = new Map<number, Kept>();

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Created with the first vectors: stores without vectors allocate none. */
  get memory(): VectorMemory {
    this.#memory ??= new VectorMemory();
    return this.#memory;
  }

  /** Pins the segments: call `release` with the result. Throws `UnreadableSegment`. */
  *open(infos: readonly VectorSegmentInfo[]): SansIo<readonly ResidentSegment[]> {
    const opened: ResidentSegment[] = [];
    let isOpen = false;
    // An abandoned search ends here without an error: only `finally` runs.
    try {
      for (const { segment } of infos) {
        const kept = this.#segments.get(segment) ?? (yield* this.#load(segment));
        this.#segments.delete(segment);
        this.#segments.set(segment, kept);
        kept.pins++;
        opened.push(kept);
      }
      isOpen = true;
      return opened;
    } finally {
      if (!isOpen) this.release(opened);
    }
  }

  release(opened: readonly ResidentSegment[]): void {
    for (const { segment } of opened) {
      const kept = this.#segments.get(segment);
      if (kept !== undefined) kept.pins--;
    }
    for (const [segment, kept] of this.#segments) {
      if ((this.#memory?.used ?? 0) <= this.#maxBytes) break;
      if (kept.pins > 0) continue;
      this.#segments.delete(segment);
      this.#free(kept.slabs);
    }
  }

  #free(slabs: readonly ResidentSlab[]): void {
    for (const { at, bytes } of slabs) this.memory.free(at, bytes);
  }

  *#load(segment: number): SansIo<Kept> {
    const [head, keyBytes] = yield* readBlobs(segment, [HEADER_BLOB, KEYS_BLOB]);
    const header = JSON.parse(new TextDecoder().decode(head)) as VectorHeader;
    if (header.format !== VECTOR_FORMAT) throw new UnreadableSegment(segment, "damaged");
    const slabs: ResidentSlab[] = [];
    let isLoaded = false;
    try {
      yield* this.#loadSlabs(segment, header, slabs);
      isLoaded = true;
    } finally {
      if (!isLoaded) this.#free(slabs);
    }
    const reader = new ByteReader(keyBytes as Uint8Array);
    const keys = Array.from({ length: header.notes }, () => reader.text());
    return { ...header, segment, slabs, keys, pins: 0 };
  }

  /** Appends each slab once it is loaded. */
  *#loadSlabs(
    segment: number,
    { dimensions, count }: VectorHeader,
    slabs: ResidentSlab[],
  ): SansIo<void> {
    const wanted = Array.from({ length: Math.ceil(count / SLAB) }, (_, slab) => slab);
    for (let i = 0; i < wanted.length; i += SLABS_AT_ONCE) {
      const some = wanted.slice(i, i + SLABS_AT_ONCE);
      const blobs = yield* readBlobs(
        segment,
        some.flatMap((slab) => [columnsBlob(slab), codesBlob(slab)]),
      );
      for (let j = 0; j < blobs.length; j += 2) {
        const columns = readVectorColumns(blobs[j] as Uint8Array);
        const bytes = blobs[j + 1] as Uint8Array;
        const codes = codeBytes(columns.count, dimensions);
        const at = this.memory.allocate(bytes.length);
        this.memory.bytes(at, bytes.length).set(bytes);
        slabs.push({ columns, at, codes, bytes: bytes.length });
      }
    }
  }
}

/** The number of blocks of a slab. */
export function blocksOf({ columns }: ResidentSlab): number {
  return Math.ceil(columns.count / BLOCK);
}

function* readBlobs(segment: number, blobs: readonly number[]): SansIo<Uint8Array[]> {
  const keys = blobs.map((blob) => ({ segment, blob }));
  const answers = yield* ask<"blobs">({ need: "blobs", keys });
  return keys.map((_, i) => {
    const answer = answers[i] ?? "missing";
    if (typeof answer === "string") throw new UnreadableSegment(segment, answer);
    return answer;
  });
}
