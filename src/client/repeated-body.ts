/**
 * A replay buffer: a streamed body that can be sent again.
 *
 * Sent bytes are kept until the response, up to a limit; beyond it they are dropped, and the body
 * cannot be repeated.
 */

export class RepeatedBody {
  readonly #source: ReadableStreamDefaultReader<Uint8Array>;
  readonly #limit: number;
  readonly #kept: Uint8Array[] = [];
  /** The number of dropped chunks. */
  #gone = 0;
  #bytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #reading: Promise<void> | undefined;

  constructor(source: ReadableStream<Uint8Array>, limitBytes: number) {
    this.#source = source.getReader();
    this.#limit = limitBytes;
  }

  /** Whether it can be sent from its start. A failed source would fail again. */
  get isRepeatable(): boolean {
    return this.#gone === 0 && this.#end?.error === undefined;
  }

  /** From the start. Of several readers only the last continues the source. */
  open(): ReadableStream<Uint8Array> {
    let next = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const piece = await this.#piece(next++);
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
  }

  /** No further retry. */
  async discard(): Promise<void> {
    this.#kept.length = 0;
    this.#end ??= {};
    await this.#source.cancel().catch(() => undefined);
  }

  async #piece(index: number): Promise<Uint8Array | undefined> {
    while (index >= this.#gone + this.#kept.length && this.#end === undefined) {
      // An abandoned attempt may still wait for the same chunk.
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    const piece = this.#kept[index - this.#gone];
    if (piece === undefined && this.#end?.error !== undefined) throw this.#end.error;
    return piece;
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#source.read();
      if (done) this.#end ??= {};
      else this.#keep(value);
    } catch (error) {
      this.#end ??= { error };
    }
  }

  #keep(piece: Uint8Array): void {
    this.#kept.push(piece);
    this.#bytes += piece.length;
    while (this.#bytes > this.#limit && this.#kept.length > 1) {
      this.#bytes -= this.#kept.shift()?.length ?? 0;
      this.#gone++;
    }
  }
}
