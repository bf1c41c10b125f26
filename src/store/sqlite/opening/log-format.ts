/**
 * The layout of a write-ahead log: a header of 32 bytes, then frames of a header of 24 bytes and a
 * page. Numbers are big-endian; the checksum takes its words in the order that the magic number says.
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */

import { endianness } from "node:os";
import { type Checksum, checksumOf, isSame } from "./log-checksum.ts";

export const HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;

/** The last bit gives the byte order of the checksum's words. */
const MAGIC = 0x377f0682;
const VERSION = 3_007_000;
const PAGE_SIZES: readonly number[] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

/** Parameters that all frames of a log share. */
export interface LogShape {
  readonly pageBytes: number;
  readonly bigEndian: boolean;
}

export interface LogHeader extends LogShape {
  /** Changed each time the log restarts: 16 hexadecimal digits. */
  readonly salts: string;
  readonly checksum: Checksum;
}

export interface Frame {
  readonly page: number;
  /** Whether it ends a transaction: its database size is not 0. */
  readonly isCommit: boolean;
  readonly salts: string;
  readonly checksum: Checksum;
}

/** Undefined if SQLite would ignore the log. */
export function readHeader(bytes: Buffer): LogHeader | undefined {
  const magic = bytes.readUInt32BE(0);
  const bigEndian = (magic & 1) === 1;
  const pageBytes = bytes.readUInt32BE(8);
  if ((magic & ~1) >>> 0 !== MAGIC || bytes.readUInt32BE(4) !== VERSION) return undefined;
  if (!PAGE_SIZES.includes(pageBytes)) return undefined;
  const checksum = storedAt(bytes, 24);
  if (!isSame(headerChecksum(bytes, bigEndian), checksum)) return undefined;
  return { pageBytes, bigEndian, salts: bytes.toString("hex", 16, 24), checksum };
}

export function readFrame(bytes: Buffer, offset: number): Frame {
  return {
    page: bytes.readUInt32BE(offset),
    isCommit: bytes.readUInt32BE(offset + 4) !== 0,
    salts: bytes.toString("hex", offset + 8, offset + 16),
    checksum: storedAt(bytes, offset + 16),
  };
}

/** `words` are those of the bytes with the frame at `offset`: see `wordsOf`. */
export function frameChecksum(
  words: Int32Array,
  offset: number,
  shape: LogShape,
  seed: Checksum,
): Checksum {
  const first = offset / 4;
  // The checksum covers the page number and the database size of the frame's header, then the page.
  const sums = checksumOf(words, first, first + 2, seed);
  const page = first + FRAME_HEADER_BYTES / 4;
  return checksumOf(words, page, page + shape.pageBytes / 4, sums);
}

/** The bytes as words of the checksum. A view where this machine has them in the log's order. */
export function wordsOf(bytes: Buffer, bigEndian: boolean): Int32Array {
  const isNative = bigEndian === (endianness() === "BE");
  const own = isNative && bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(bytes);
  // `Buffer.from` may use a shared pool, which is aligned to 8 bytes.
  if (!isNative) own.swap32();
  return new Int32Array(own.buffer, own.byteOffset, own.byteLength >> 2);
}

/**
 * Possible seeds of the first frame if the header is damaged: its stored checksum, or the
 * recomputed one.
 */
export function possibleSeeds(header: Buffer, shape: LogShape): readonly Checksum[] {
  return [storedAt(header, 24), headerChecksum(header, shape.bigEndian)];
}

/**
 * The shape of a log with a damaged header, from its first frames: the second follows the first, or
 * the first follows one of the header's checksums. Undefined if they are not frames.
 */
export function guessShape(header: Buffer, frames: Buffer): LogShape | undefined {
  for (const bigEndian of [false, true]) {
    for (const pageBytes of PAGE_SIZES) {
      const shape = { pageBytes, bigEndian };
      if (beginsWithFrames(header, frames, shape)) return shape;
    }
  }
  return undefined;
}

function beginsWithFrames(header: Buffer, frames: Buffer, shape: LogShape): boolean {
  const frameBytes = FRAME_HEADER_BYTES + shape.pageBytes;
  if (frames.length < frameBytes) return false;
  const two = frames.subarray(0, Math.min(2 * frameBytes, frames.length));
  const words = wordsOf(two, shape.bigEndian);
  const first = readFrame(two, 0);
  const isFirst = (seed: Checksum) => isSame(frameChecksum(words, 0, shape, seed), first.checksum);
  if (possibleSeeds(header, shape).some(isFirst)) return true;
  if (two.length < 2 * frameBytes) return false;
  const second = readFrame(two, frameBytes);
  const sums = frameChecksum(words, frameBytes, shape, first.checksum);
  return second.salts === first.salts && isSame(sums, second.checksum);
}

function headerChecksum(bytes: Buffer, bigEndian: boolean): Checksum {
  return checksumOf(wordsOf(bytes.subarray(0, HEADER_BYTES), bigEndian), 0, 6, { s1: 0, s2: 0 });
}

function storedAt(bytes: Buffer, offset: number): Checksum {
  return { s1: bytes.readInt32BE(offset), s2: bytes.readInt32BE(offset + 4) };
}
