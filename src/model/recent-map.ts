/**
 * A two-generation FIFO cache: a map that drops its oldest keys, so that memory stays bounded.
 *
 * Once the newer generation holds half of the limit, it becomes the older one, and the older one is
 * dropped. Deleting the oldest key for each new one would get slower with size, as a Map iterates
 * over the gaps of deleted keys. Up to half of the limit it is one Map.
 */

/** Values are never undefined, which means an unknown key. */
export class RecentMap<K, V extends NonNullable<unknown> | null> {
  readonly #half: number;
  #newer = new Map<K, V>();
  #older: Map<K, V> | undefined;

  /** Holds at most `limit` keys. A key is dropped only after half as many others were set since. */
  constructor(limit: number, entries: Iterable<readonly [K, V]> = []) {
    this.#half = Math.max(1, Math.floor(limit / 2));
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#newer.size + (this.#older?.size ?? 0);
  }

  get(key: K): V | undefined {
    const value = this.#newer.get(key);
    return value === undefined ? this.#older?.get(key) : value;
  }

  has(key: K): boolean {
    return this.#newer.has(key) || this.#older?.has(key) === true;
  }

  set(key: K, value: V): void {
    this.delete(key);
    if (this.#newer.size === this.#half) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  delete(key: K): void {
    this.#newer.delete(key);
    this.#older?.delete(key);
  }

  /** In insertion order. */
  *[Symbol.iterator](): Generator<[K, V]> {
    if (this.#older !== undefined) yield* this.#older;
    yield* this.#newer;
  }

  *keys(): Generator<K> {
    for (const [key] of this) yield key;
  }
}
