/**
 * Fair queueing of searches: round robin over tenants, so that a burst delays only its own tenant.
 *
 * Two searches are in flight; the others are queued here, where an aborted one can be removed.
 */

/** One runs on the thread, the next waits at it. */
const AT_ONCE = 2;

interface Waiting {
  readonly start: () => void;
}

export class SearchTurns {
  /** By tenant, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  #running = 0;

  /** Rejects with the reason of `signal` when it is aborted, also while `search` runs. */
  run<Result>(
    tenant: string,
    search: () => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#remove(tenant, waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        start: () => {
          this.#running++;
          // The constructor also catches synchronous errors of `search`.
          void new Promise<Result>((started) => started(search()))
            .then(resolve, reject)
            .finally(() => {
              signal?.removeEventListener("abort", onAbort);
              this.#running--;
              this.#startNext();
            });
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const others = this.#waiting.get(tenant);
      if (others === undefined) this.#waiting.set(tenant, [waiting]);
      else others.push(waiting);
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#running < AT_ONCE) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const [tenant, searches] = first;
      const next = searches.shift();
      // Round robin: a tenant with more searches moves to the end.
      this.#waiting.delete(tenant);
      if (searches.length > 0) this.#waiting.set(tenant, searches);
      next?.start();
    }
  }

  #remove(tenant: string, waiting: Waiting): void {
    const searches = this.#waiting.get(tenant);
    const at = searches?.indexOf(waiting) ?? -1;
    if (searches === undefined || at < 0) return;
    searches.splice(at, 1);
    if (searches.length === 0) this.#waiting.delete(tenant);
  }
}
