/**
 * Block compression: similar parts of neighbouring entries are compressed together in a pack.
 *
 * Tool calls and their metadata resemble each other: compressed one by one such texts shrink by a
 * third, forty together by two thirds.
 */

import * as zlib from "node:zlib";
import { unpackZstd } from "../../payload-codec.ts";

/** The separator of texts. JSON never contains this byte and is never empty. */
const END = 0;

/**
 * Level 2 with a hash table no larger than a pack, since it is cleared for each, and matches of
 * four bytes: two thirds of the time of level 4 for 0.5 % more bytes.
 */
const PARAMS = {
  [zlib.constants.ZSTD_c_compressionLevel]: 2,
  [zlib.constants.ZSTD_c_strategy]: zlib.constants.ZSTD_fast,
  [zlib.constants.ZSTD_c_minMatch]: 4,
  [zlib.constants.ZSTD_c_hashLog]: 15,
};

/** The objects around the bytes, which dominate a short pack. */
const OVERHEAD_BYTES = 1_000;

/**
 * A decompressed pack: JSON texts for each slot, null for absent ones. Texts are decoded lazily:
 * one non-ASCII character would double the cost of all.
 */
export class Pack {
  readonly #plain: Buffer;
  /** The end of each text: content and metadata of each slot in turn. */
  readonly #ends: readonly number[];

  /** Throws if the bytes are not a pack. */
  constructor(bytes: Uint8Array) {
    this.#plain = onItsOwn(unpackZstd(bytes));
    this.#ends = endsOf(this.#plain);
  }

  /** Approximate size in memory. */
  get size(): number {
    return this.#plain.buffer.byteLength + OVERHEAD_BYTES;
  }

  content(slot: number): string | null {
    return this.#text(2 * slot);
  }

  metadata(slot: number): string | null {
    return this.#text(2 * slot + 1);
  }

  /** The pack's bytes without `slots`; undefined if it becomes empty. */
  without(slots: ReadonlySet<number>): Uint8Array | undefined {
    const left = this.#ends.map((end, i) =>
      this.#plain.subarray(slots.has(i >> 1) ? end : this.#start(i), end),
    );
    return left.every((text) => text.length === 0) ? undefined : packTexts(left);
  }

  #text(i: number): string | null {
    const start = this.#start(i);
    const end = this.#ends[i] ?? start;
    return end === start ? null : this.#plain.toString("utf8", start, end);
  }

  #start(i: number): number {
    return i === 0 ? 0 : (this.#ends[i - 1] ?? this.#plain.length) + 1;
  }
}

/** Copies a short buffer, which would retain Node's whole buffer pool. */
function onItsOwn(plain: Buffer): Buffer {
  if (2 * plain.length > plain.buffer.byteLength) return plain;
  return Buffer.from(new Uint8Array(plain).buffer);
}

function endsOf(plain: Buffer): number[] {
  const ends: number[] = [];
  for (let end = plain.indexOf(END); end >= 0; end = plain.indexOf(END, end + 1)) ends.push(end);
  ends.push(plain.length);
  return ends;
}

/** The bytes of a pack: content and metadata of each slot in turn, empty where missing. */
export function packTexts(texts: readonly Uint8Array[]): Uint8Array {
  const size = texts.reduce((sum, text) => sum + text.length + 1, -1);
  const plain = Buffer.allocUnsafe(size);
  let end = 0;
  for (const text of texts) {
    if (end > 0) plain[end - 1] = END;
    plain.set(text, end);
    end += text.length + 1;
  }
  return zlib.zstdCompressSync(plain, {
    chunkSize: Math.max(1_024, size >> 1),
    params: PARAMS,
  });
}

/** Whether a pack can hold the text unchanged. */
export function isPackable(text: Uint8Array): boolean {
  return text.length > 0 && !text.includes(END);
}

/** About twenty packs of long sessions, a thousand of short ones. */
const MAX_BYTES = 2 * 1024 * 1024;

export class PackCache {
  /** Most recently used last. */
  readonly #packs = new Map<string, Pack>();
  #bytes = 0;

  find(tenant: number, session: number, number: number): Pack | undefined {
    const key = keyOf(tenant, session, number);
    const pack = this.#packs.get(key);
    if (pack === undefined) return undefined;
    this.#packs.delete(key);
    this.#packs.set(key, pack);
    return pack;
  }

  keep(tenant: number, session: number, number: number, pack: Pack): void {
    this.drop(tenant, session, number);
    this.#packs.set(keyOf(tenant, session, number), pack);
    this.#bytes += pack.size;
    for (const [key, { size }] of this.#packs) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#packs.delete(key);
      this.#bytes -= size;
    }
  }

  drop(tenant: number, session: number, number: number): void {
    const key = keyOf(tenant, session, number);
    this.#bytes -= this.#packs.get(key)?.size ?? 0;
    this.#packs.delete(key);
  }

  clear(): void {
    this.#packs.clear();
    this.#bytes = 0;
  }
}

function keyOf(tenant: number, session: number, number: number): string {
  return `${tenant} ${session} ${number}`;
}
