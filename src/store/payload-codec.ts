/** Zstandard compression of payloads, where it makes them smaller. */

// By its namespace: a runtime without Zstandard is refused by a sentence, once it opens a store.
import * as zlib from "node:zlib";
import { BackscrollError } from "../model/errors.ts";
import { sha256, toHex } from "../transcript/hash.ts";
import { payloadDamaged } from "./damage/damage-errors.ts";

export interface StoredPayload {
  readonly codec: string;
  readonly bytes: Uint8Array;
}

/**
 * Most payloads have some kilobytes: level 1 leaves 2 % more bytes in two thirds of the time. A
 * small hash table, because it is cleared for each.
 */
const QUICK_BYTES = 16 * 1024;
const QUICK = { [zlib.constants.ZSTD_c_compressionLevel]: 1, [zlib.constants.ZSTD_c_hashLog]: 14 };

/** Compressed data, such as images, is stored as it is. */
export function compressPayload(bytes: Uint8Array): StoredPayload {
  // One buffer of a usually sufficient size: growing it costs more than the compression.
  const chunkSize = Math.max(1_024, bytes.length >> 1);
  const params = bytes.length <= QUICK_BYTES ? QUICK : {};
  const compressed = zlib.zstdCompressSync(bytes, { chunkSize, params });
  return compressed.length < bytes.length
    ? { codec: "zstd", bytes: compressed }
    : { codec: "none", bytes };
}

/** A shorter text is not worth compressing. */
const MIN_PACKED_BYTES = 512;

/** Compresses JSON text that no SQL reads, if that makes it smaller. */
export function packText(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return bytes.length < MIN_PACKED_BYTES ? bytes : compressPayload(bytes).bytes;
}

/** Compressed values are recognised by zstd's magic number, which never begins JSON. */
export function unpackText(bytes: Uint8Array): string {
  const isPacked = ZSTD.every((byte, i) => bytes[i] === byte);
  const plain = isPacked ? unpackZstd(bytes) : bytes;
  return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString("utf8");
}

const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** A payload by its hash. Throws `store_corrupt` if it is missing or does not match. */
export function readPayload(hash: string, stored: StoredPayload | undefined): Uint8Array {
  if (stored === undefined) throw payloadDamaged(hash);
  const bytes = decompress(hash, stored);
  if (toHex(sha256(bytes)) !== hash) throw payloadDamaged(hash);
  return bytes;
}

/** As `readPayload`, but undefined for a damaged one. */
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

/** Payloads whose header claims more bytes are unpacked in chunks. */
const MAX_ROOM = 1024 * 1024;
/** Node's minimum. */
const MIN_ROOM = 64;

/**
 * Decompresses into one buffer of the exact size, which the frame header gives (RFC 8878, 3.1.1):
 * the default would over-allocate for short values and join chunks for long ones.
 */
export function unpackZstd(bytes: Uint8Array): Buffer {
  return zlib.zstdDecompressSync(bytes, { chunkSize: roomFor(bytes) });
}

function roomFor(bytes: Uint8Array): number {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 9));
  const descriptor = header[4] ?? 0;
  // Single segment without a dictionary: the size follows directly. Only long frames have another
  // form.
  const length = (descriptor & 0x23) === 0x20 ? [1, 2, 4][descriptor >> 6] : undefined;
  if (header.length < 9 || length === undefined)
    return clamp(Math.max(64 * 1024, 4 * bytes.length));
  // One byte more: a full buffer could mean more data.
  return clamp(header.readUIntLE(5, length) + (length === 2 ? 256 : 0) + 1);
}

function clamp(room: number): number {
  return Math.min(MAX_ROOM, Math.max(MIN_ROOM, room));
}
