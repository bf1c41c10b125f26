/** CRC-32 of segment blobs: a damaged blob is reported, never searched. */

import { crc32 } from "node:zlib";
import type { BlobAnswer, BlobKey } from "../../search/port.ts";
import type { Row } from "../records.ts";

export function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes);
}

/** From a row of `index_blobs`. Blobs in `checked` were verified before. */
export function toBlobAnswer(
  row: Row | undefined,
  key: BlobKey,
  checked: CheckedBlobs,
): BlobAnswer {
  if (row === undefined) return "missing";
  const bytes = row["bytes"] as Uint8Array;
  if (checked.has(key)) return bytes;
  if (crc32(bytes) !== row["crc"]) return "damaged";
  checked.add(key);
  return bytes;
}

/** Blobs verified by this process: only the first read computes the checksum. */
export class CheckedBlobs {
  /** By segment. Nested sets of numbers: cheaper than string keys. */
  readonly #blobs = new Map<number, Set<number>>();
  #count = 0;

  has({ segment, blob }: BlobKey): boolean {
    return this.#blobs.get(segment)?.has(blob) ?? false;
  }

  add({ segment, blob }: BlobKey): void {
    if (this.#count >= MAX_CHECKED) {
      this.#blobs.clear();
      this.#count = 0;
    }
    const known = this.#blobs.get(segment);
    if (known === undefined) this.#blobs.set(segment, new Set([blob]));
    else known.add(blob);
    this.#count++;
  }
}

const MAX_CHECKED = 100_000;
