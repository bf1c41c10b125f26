/** Blobs of segments carry a checksum: a damaged one is told, never searched. */

import { crc32 } from "node:zlib";
import type { BlobAnswer, BlobKey } from "../../search/port.ts";
import type { Row } from "../records.ts";

export function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes);
}

/** From a row of `index_blobs`. */
export function toBlobAnswer(row: Row | undefined): BlobAnswer {
  if (row === undefined) return "missing";
  const bytes = row["bytes"] as Uint8Array;
  return crc32(bytes) === row["crc"] ? bytes : "damaged";
}

/** A key as text, to find the row of each among many. */
export function blobName({ segment, blob }: BlobKey): string {
  return `${segment}/${blob}`;
}
