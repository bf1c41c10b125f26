/** Runs one request at a time: a newer one aborts those before it. */
export class Latest {
  #current: AbortController | undefined;

  /** The result of `work`; undefined if a newer request was started meanwhile. */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined> {
    this.stop();
    const own = new AbortController();
    this.#current = own;
    try {
      const result = await work(own.signal);
      return own.signal.aborted ? undefined : result;
    } catch (error) {
      if (own.signal.aborted) return undefined;
      throw error;
    }
  }

  stop(): void {
    this.#current?.abort();
  }
}
