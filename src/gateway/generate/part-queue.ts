/**
 * What happens, for those who read it: each from the beginning, at their own pace.
 *
 * The parts of one answer are kept until nobody holds the queue any more; they are no more than the
 * answer itself.
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

  /** Whoever reads hears of it after the last part. */
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
