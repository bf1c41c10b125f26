/**
 * A replayable broadcast of answer parts: each reader gets all parts from the first, at its own
 * pace.
 *
 * All parts of one answer stay in memory until the queue is collected.
 */

export class PartQueue<Part> {
  readonly #parts: Part[] = [];
  #waiting: (() => void)[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  push(part: Part): void {
    this.#parts.push(part);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Readers get the error after the last part. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *read(): AsyncGenerator<Part, void> {
    for (let next = 0; ; next++) {
      while (next >= this.#parts.length) {
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      }
      yield this.#parts[next] as Part;
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
