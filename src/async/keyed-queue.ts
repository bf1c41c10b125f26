/**
 * A keyed mutex, FIFO: work under one key is sequential, under different keys concurrent. Work that
 * finds its queue empty starts within the call.
 */
export class KeyedQueue {
  /** The newest work of each key that has not ended. */
  readonly #newest = new Map<string, Promise<unknown>>();

  /** Runs `work` when all earlier work under `key` has settled. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#newest.get(key);
    const result = before === undefined ? work() : before.then(work, work);
    this.#newest.set(key, result);
    try {
      return await result;
    } finally {
      if (this.#newest.get(key) === result) this.#newest.delete(key);
    }
  }

  /** Whether work under `key` is running or queued. */
  isBusy(key: string): boolean {
    return this.#newest.has(key);
  }
}
