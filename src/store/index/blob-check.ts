/** Blobs of segments carry a checksum: a damaged one is told, never searched. */

import { crc32 } from "node:zlib";
import type { BlobAnswer, BlobKey } from "../../search/port.ts";
import type { Row } from "../records.ts";

export function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes);
}

/** From a row of `index_blobs`. A blob that `checked` names was found sound before. */
export function toBlobAnswer(
  row: Row | undefined,
  key: BlobKey,
  checked: CheckedBlobs,
): BlobAnswer {
  if (row === undefined) return "missing";
  const bytes = row["bytes"] as Uint8Array;
  const name = blobName(key);
  if (checked.has(name)) return bytes;
  if (crc32(bytes) !== row["crc"]) return "damaged";
  checked.add(name);
  return bytes;
}

/** The blobs that a process has read and found sound: the first read checks, the others trust. */
export class CheckedBlobs {
  #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    if (this.#names.size >= MAX_CHECKED) this.#names = new Set();
    this.#names.add(name);
  }
}

const MAX_CHECKED = 100_000;

/** A key as text, to find the row of each among many. */
export function blobName({ segment, blob }: BlobKey): string {
  return `${segment}/${blob}`;
}
