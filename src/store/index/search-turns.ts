/**
 * Fair queueing of searches: round robin over tenants, so that a burst delays only its own tenant.
 *
 * Two searches are in flight, each in a lane; the others are queued here, where an aborted one can
 * be removed. A tenant beside others has one lane, so that its slow questions never occupy both.
 */

import { idlePause } from "../../async/pause.ts";

/** A thread each, or one thread at which the second waits. */
const LANES = 2;
/** How long `between` waits for searches to end. */
const PATIENCE_MS = 1_000;
/** How long a tenant counts as present after its last search. */
const PRESENT_MS = 10_000;

interface Waiting {
  readonly start: (lane: number) => void;
  /** Only in the first lane. */
  readonly isFirst: boolean;
}

export interface TurnOptions {
  readonly signal?: AbortSignal | undefined;
  /** The search must run in the first lane. */
  readonly isFirst?: boolean;
}

export class SearchTurns {
  /** By tenant, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** The tenant of the search in each lane, and the last tenant of a free one. */
  readonly #running: (string | undefined)[] = Array.from({ length: LANES }, () => undefined);
  readonly #latest: (string | undefined)[] = Array.from({ length: LANES }, () => undefined);
  /** The tenant that searched last and when, and when another one did. */
  #last: string | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #othersAt = Number.NEGATIVE_INFINITY;
  readonly #now: () => number;
  /** While true, no search starts. */
  #isHeld = false;
  #onIdle: () => void = () => undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Rejects with the reason of `signal` when it is aborted, also while `search` runs. */
  run<Result>(
    tenant: string,
    search: (lane: number) => Promise<Result>,
    { signal, isFirst = false }: TurnOptions = {},
  ): Promise<Result> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#saw(tenant);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#remove(tenant, waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        isFirst,
        start: (lane) => {
          this.#running[lane] = tenant;
          this.#latest[lane] = tenant;
          // The constructor also catches synchronous errors of `search`.
          void new Promise<Result>((started) => started(search(lane)))
            .finally(() => {
              signal?.removeEventListener("abort", onAbort);
              this.#running[lane] = undefined;
              this.#startNext();
            })
            // Last: a caller that searches again finds the lane free.
            .then(resolve, reject);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const others = this.#waiting.get(tenant);
      if (others === undefined) this.#waiting.set(tenant, [waiting]);
      else others.push(waiting);
      this.#startNext();
    });
  }

  /** Runs `work` while no search runs, unless one takes longer than a second. */
  async between<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isHeld = true;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#startNext();
    try {
      await Promise.race([idle, idlePause(PATIENCE_MS)]);
      return await work();
    } finally {
      this.#isHeld = false;
      this.#startNext();
    }
  }

  #saw(tenant: string): void {
    if (tenant !== this.#last) this.#othersAt = this.#lastAt;
    this.#last = tenant;
    this.#lastAt = this.#now();
  }

  #startNext(): void {
    if (this.#running.every((tenant) => tenant === undefined)) this.#onIdle();
    if (this.#isHeld) return;
    for (const [tenant, searches] of this.#waiting) {
      const [next] = searches;
      const lane = next && this.#laneFor(tenant, next);
      if (next === undefined || lane === undefined) continue;
      searches.shift();
      // Round robin: a tenant with more searches moves to the end.
      this.#waiting.delete(tenant);
      if (searches.length > 0) this.#waiting.set(tenant, searches);
      next.start(lane);
    }
  }

  /** A free lane: the one that the tenant used last, whose caches know it, else the first. */
  #laneFor(tenant: string, { isFirst }: Waiting): number | undefined {
    const isAlone = this.#now() - this.#othersAt > PRESENT_MS;
    if (!isAlone && this.#running.includes(tenant)) return undefined;
    const free = [...this.#running.keys()].filter(
      (lane) => this.#running[lane] === undefined && (lane === 0 || !isFirst),
    );
    return free.find((lane) => this.#latest[lane] === tenant) ?? free[0];
  }

  #remove(tenant: string, waiting: Waiting): void {
    const searches = this.#waiting.get(tenant);
    const at = searches?.indexOf(waiting) ?? -1;
    if (searches === undefined || at < 0) return;
    searches.splice(at, 1);
    if (searches.length === 0) this.#waiting.delete(tenant);
  }
}
