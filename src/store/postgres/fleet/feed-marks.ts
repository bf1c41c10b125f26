/** High-water marks: the highest feed position that a process has seen, by tenant. */

/** The capacity of the LRU. */
const MAX_TENANTS = 10_000;

export class FeedMarks {
  /** LRU, by last write. */
  readonly #positions = new Map<string, number>();

  /** Positions only grow; 0 means no change. */
  note(tenant: string, position: number): void {
    if (position === 0) return;
    const highest = Math.max(position, this.of(tenant));
    this.#positions.delete(tenant);
    this.#positions.set(tenant, highest);
    if (this.#positions.size <= MAX_TENANTS) return;
    const [oldest] = this.#positions.keys();
    if (oldest !== undefined) this.#positions.delete(oldest);
  }

  /** 0 if unknown. */
  of(tenant: string): number {
    return this.#positions.get(tenant) ?? 0;
  }

  clear(): void {
    this.#positions.clear();
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#positions[Symbol.iterator]();
  }
}
