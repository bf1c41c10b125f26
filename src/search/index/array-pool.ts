/**
 * An object pool: reusable arrays for building segments, one per name.
 *
 * Each takes a few megabytes. Allocated per segment, those of the last ten would wait for garbage
 * collection, as V8 collects external memory late.
 */

/** `counts` is zeroed; the others hold stale values. */
export type PooledName = "counts" | "ofTerm" | "positions" | "words";

/** Larger arrays are not kept: they were needed once, for very long messages. */
const MAX_KEPT = 4 * 1024 * 1024;

export class ArrayPool {
  readonly #free = new Map<PooledName, Uint32Array<ArrayBuffer>>();

  /** An array of at least this length, owned by the caller until it is returned. */
  take(name: PooledName, length: number): Uint32Array<ArrayBuffer> {
    const free = this.#free.get(name);
    this.#free.delete(name);
    return free !== undefined && free.length >= length ? free : new Uint32Array(length);
  }

  clear(): void {
    this.#free.clear();
  }

  release(name: PooledName, array: Uint32Array<ArrayBuffer>): void {
    if (array.length <= MAX_KEPT) this.#free.set(name, array);
  }
}
