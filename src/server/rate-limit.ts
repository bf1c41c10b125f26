/** A token bucket per caller, in an LRU of callers. */

import { BackscrollError } from "../model/errors.ts";

export interface RateLimit {
  /** Requests a second, in the long term. */
  readonly perSecond: number;
  /** The burst of requests. */
  readonly burst: number;
}

/** The size of the LRU. */
const MAX_CALLERS = 10_000;

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(limit: RateLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Throws `rate_limited` for an empty bucket. */
  take(caller: string): void {
    const { perSecond, burst } = this.#limit;
    const now = this.#now();
    const bucket = this.#buckets.get(caller) ?? { level: burst, at: now };
    bucket.level = Math.min(burst, bucket.level + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    // Reinserted, so that the map is in LRU order.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    if (this.#buckets.size > MAX_CALLERS) this.#forgetOldest();
    if (bucket.level < 1) {
      const retryAfterMs = Math.ceil(((1 - bucket.level) / perSecond) * 1000);
      throw new BackscrollError(
        "rate_limited",
        `more than ${perSecond} requests a second; try again in ${retryAfterMs} ms`,
        { details: { limit: perSecond, retryAfterMs } },
      );
    }
    bucket.level -= 1;
  }

  #forgetOldest(): void {
    const oldest = this.#buckets.keys().next();
    if (!oldest.done) this.#buckets.delete(oldest.value);
  }
}
