/** How a payload's bytes are stored: compressed, unless that gains nothing. */

import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

export interface StoredPayload {
  readonly codec: string;
  readonly bytes: Uint8Array;
}

/** Images and other data that is compressed already is stored as it is. */
export function compressPayload(bytes: Uint8Array): StoredPayload {
  // One buffer that mostly suffices: what is asked for beyond it costs more than the compression.
  const compressed = zstdCompressSync(bytes, { chunkSize: Math.max(1_024, bytes.length >> 1) });
  return compressed.length < bytes.length
    ? { codec: "zstd", bytes: compressed }
    : { codec: "none", bytes };
}

export function decompressPayload(stored: StoredPayload): Uint8Array {
  return stored.codec === "zstd" ? zstdDecompressSync(stored.bytes) : stored.bytes;
}
