/**
 * A pool of buffers of one size for the blobs that a merge reads.
 *
 * A blob that leaves the cache would be collected late: until then some 60 MB of them pile up. So
 * blobs are copied into buffers of the pool, and the buffer of an evicted blob is reused. A
 * computation may still read an evicted blob: a buffer is reused only after all readers have left
 * that were under way at the eviction. Searches do without: it saves them 7 % of memory and no time
 * (docs/decisions/what-pays.md).
 */

import { BLOB_BYTES } from "./layout.ts";

/** More are left to the collector: where computations always overlap, none could be used again. */
const MAX_GONE = 512;

export class BlobRoom {
  /** Computations that are under way. */
  #open = 0;
  readonly #spare: ArrayBuffer[] = [];
  /** Blobs evicted while still in use. */
  readonly #gone: ArrayBuffer[] = [];

  enter(): void {
    this.#open++;
  }

  leave(): void {
    this.#open--;
    if (this.#open === 0) this.#spare.push(...this.#gone.splice(0));
  }

  /** Undefined if the blob is larger than a piece. */
  copy(blob: Uint8Array): Uint8Array | undefined {
    if (blob.length > BLOB_BYTES) return undefined;
    const copy = new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(BLOB_BYTES), 0, blob.length);
    copy.set(blob);
    return copy;
  }

  /** Whether the bytes are in a piece, and so will be those of another blob. */
  isReused({ buffer }: Uint8Array): boolean {
    return buffer.byteLength === BLOB_BYTES;
  }

  /** A blob left the cache. */
  drop(blob: Uint8Array): void {
    if (this.isReused(blob) && this.#gone.length < MAX_GONE) {
      this.#gone.push(blob.buffer as ArrayBuffer);
    }
  }
}
