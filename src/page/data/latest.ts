/** Of several questions only the newest is answered; those before it are aborted. */
export class Latest {
  #current: AbortController | undefined;

  /** What `work` gives, or undefined if a newer question came meanwhile. */
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
