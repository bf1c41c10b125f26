/**
 * An object pool: reusable arrays for building segments, one per name.
 *
 * Each takes a few megabytes. Allocated per segment, those of the last ten would wait for garbage
 * collection, as V8 collects external memory late.
 */

/** `counts` is zeroed; the others hold stale values. */
export type RoomName = "counts" | "ofTerm" | "positions" | "words";

/** Larger arrays are not kept: they were needed once, for very long messages. */
const MAX_KEPT = 4 * 1024 * 1024;

export class FieldRoom {
  readonly #left = new Map<RoomName, Uint32Array<ArrayBuffer>>();

  /** An array of at least this length, owned by the caller until it is returned. */
  take(name: RoomName, length: number): Uint32Array<ArrayBuffer> {
    const left = this.#left.get(name);
    this.#left.delete(name);
    return left !== undefined && left.length >= length ? left : new Uint32Array(length);
  }

  clear(): void {
    this.#left.clear();
  }

  leave(name: RoomName, array: Uint32Array<ArrayBuffer>): void {
    if (array.length <= MAX_KEPT) this.#left.set(name, array);
  }
}
