/** How a payload's bytes are stored: compressed, unless that gains nothing. */

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { BackscrollError } from "../model/errors.ts";
import { sha256, toHex } from "../transcript/hash.ts";
import { payloadDamaged } from "./damage/damage-errors.ts";

export interface StoredPayload {
  readonly codec: string;
  readonly bytes: Uint8Array;
}

/**
 * Most payloads are some kilobytes, of which quick compression leaves a fiftieth more, in two thirds
 * of the time. Its table, which is cleared for each, is no larger than they need.
 */
const QUICK_BYTES = 16 * 1024;
const QUICK = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_hashLog]: 14 };

/** Images and other data that is compressed already is stored as it is. */
export function compressPayload(bytes: Uint8Array): StoredPayload {
  // One buffer that mostly suffices: what is asked for beyond it costs more than the compression.
  const chunkSize = Math.max(1_024, bytes.length >> 1);
  const params = bytes.length <= QUICK_BYTES ? QUICK : {};
  const compressed = zstdCompressSync(bytes, { chunkSize, params });
  return compressed.length < bytes.length
    ? { codec: "zstd", bytes: compressed }
    : { codec: "none", bytes };
}

/** Less than this is not worth the time. */
const MIN_PACKED_BYTES = 512;

/** JSON text that nobody reads in the database, packed if that makes it smaller. */
export function packText(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return bytes.length < MIN_PACKED_BYTES ? bytes : compressPayload(bytes).bytes;
}

/** What was packed says so by its first bytes; no JSON begins with them. */
export function unpackText(bytes: Uint8Array): string {
  const isPacked = ZSTD.every((byte, i) => bytes[i] === byte);
  const plain = isPacked ? unpackZstd(bytes) : bytes;
  return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString("utf8");
}

const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** A payload by its address. `store_corrupt` if it is not there, or is another. */
export function readPayload(hash: string, stored: StoredPayload | undefined): Uint8Array {
  if (stored === undefined) throw payloadDamaged(hash);
  const bytes = decompress(hash, stored);
  if (toHex(sha256(bytes)) !== hash) throw payloadDamaged(hash);
  return bytes;
}

/** The same for who goes on without what is damaged: undefined then. */
export function readSoundPayload(
  hash: string,
  stored: StoredPayload | undefined,
): Uint8Array | undefined {
  try {
    return readPayload(hash, stored);
  } catch (error) {
    if (BackscrollError.is(error, "store_corrupt")) return undefined;
    throw error;
  }
}

function decompress(hash: string, { codec, bytes }: StoredPayload): Uint8Array {
  try {
    return codec === "zstd" ? unpackZstd(bytes) : bytes;
  } catch (cause) {
    throw payloadDamaged(hash, cause);
  }
}

/** What claims to be longer is unpacked piece by piece. */
const MAX_ROOM = 1024 * 1024;
/** The least that Node takes. */
const MIN_ROOM = 64;

/**
 * What was packed, in one buffer that is no larger than it needs to be: a frame says how much it holds
 * (RFC 8878, 3.1.1). Otherwise short ones would ask for far too much, and long ones be put together.
 */
export function unpackZstd(bytes: Uint8Array): Buffer {
  return zstdDecompressSync(bytes, { chunkSize: roomFor(bytes) });
}

function roomFor(bytes: Uint8Array): number {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 9));
  const descriptor = header[4] ?? 0;
  // One segment, and no dictionary: then the size stands right behind. We write no others but long ones.
  const length = (descriptor & 0x23) === 0x20 ? [1, 2, 4][descriptor >> 6] : undefined;
  if (header.length < 9 || length === undefined)
    return clamp(Math.max(64 * 1024, 4 * bytes.length));
  // One more: a buffer that is full may mean that there is more.
  return clamp(header.readUIntLE(5, length) + (length === 2 ? 256 : 0) + 1);
}

function clamp(room: number): number {
  return Math.min(MAX_ROOM, Math.max(MIN_ROOM, room));
}
