/**
 * Turns: what is done under one key is done one after another.
 *
 * Several files can be parts of one session. Read at the same moment, each would go on from a leaf
 * that the other has moved.
 */

export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all that was asked for under the same key before is done, well or not. */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const result = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, result);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === result) this.#last.delete(key);
    }
  }
}
