/**
 * Limits of requests and body bytes in progress, per tenant and for the process, and of each
 * caller's requests a second.
 *
 * The first are counting semaphores that refuse instead of blocking: a refused caller gets `Retry-
 * After` (429 if the tenant is at its limit, 503 if the process is) and holds no resources.
 */

import { BackscrollError } from "../../model/errors.ts";

interface Allowance {
  /** Admitted and unanswered requests. A stream counts until it begins. */
  readonly requests: number;
  /** Decompressed bytes of their bodies. */
  readonly bytes: number;
}

export interface BudgetOptions {
  readonly perTenant: Allowance;
  readonly perProcess: Allowance;
}

/**
 * A body of 16 MiB takes some 100 MB until it is stored: a server of half a gigabyte can bear four.
 * `ingest` over the network sends 40 small files at a time.
 */
const BUDGET: BudgetOptions = {
  perTenant: { requests: 256, bytes: 32 * 1024 * 1024 },
  perProcess: { requests: 1_024, bytes: 64 * 1024 * 1024 },
};

/** One request's share. */
export interface Ticket {
  /** Sets the bytes held by its body. Throws `rate_limited` or `store_busy` over the limit. */
  hold(bytes: number): void;
  /** Releases it. Idempotent. */
  leave(): void;
}

/** The retry delay: most requests take milliseconds. */
const RETRY_MS = 1_000;

interface Use {
  requests: number;
  bytes: number;
}

export class Budget {
  readonly #limits: BudgetOptions;
  readonly #tenants = new Map<string, Use>();
  readonly #process: Use = { requests: 0, bytes: 0 };

  constructor(limits: BudgetOptions = BUDGET) {
    this.#limits = limits;
  }

  /** The use of all tenants. */
  get used(): Readonly<Use> {
    return this.#process;
  }

  /** Throws `rate_limited` or `store_busy` if too many are in progress. */
  enter(tenant: string): Ticket {
    const use = this.#tenants.get(tenant) ?? { requests: 0, bytes: 0 };
    this.#check(use, { requests: 1, bytes: 0 });
    this.#tenants.set(tenant, use);
    let held = 0;
    let isIn = true;
    const add = (requests: number, bytes: number) => {
      for (const each of [use, this.#process]) {
        each.requests += requests;
        each.bytes += bytes;
      }
    };
    add(1, 0);
    return {
      hold: (bytes) => {
        if (!isIn) return;
        if (bytes > held) this.#check(use, { requests: 0, bytes: bytes - held });
        add(0, bytes - held);
        held = bytes;
      },
      leave: () => {
        if (!isIn) return;
        isIn = false;
        add(-1, -held);
        if (use.requests === 0) this.#tenants.delete(tenant);
      },
    };
  }

  #check(use: Use, more: Use): void {
    const { perTenant, perProcess } = this.#limits;
    const limit = exceeded(use, more, perTenant);
    if (limit !== undefined) {
      throw new BackscrollError(
        "rate_limited",
        `the tenant has more than ${limit.text} in progress; wait for answers before sending more`,
        { details: { limit: limit.value, retryAfterMs: RETRY_MS } },
      );
    }
    const all = exceeded(this.#process, more, perProcess);
    if (all === undefined) return;
    throw new BackscrollError(
      "store_busy",
      `the server has more than ${all.text} in progress; try again in ${RETRY_MS} ms`,
      { details: { limit: all.value, retryAfterMs: RETRY_MS } },
    );
  }
}

function exceeded(
  use: Use,
  more: Use,
  { requests, bytes }: Allowance,
): { readonly value: number; readonly text: string } | undefined {
  if (use.requests + more.requests > requests) {
    return { value: requests, text: `${requests} requests` };
  }
  if (more.bytes > 0 && use.bytes + more.bytes > bytes) {
    return { value: bytes, text: `${bytes} bytes of bodies` };
  }
  return undefined;
}

export interface RateLimit {
  /** Requests a second, in the long term. */
  readonly perSecond: number;
  /** The burst of requests. */
  readonly burst: number;
}

/** The size of the LRU. */
const MAX_CALLERS = 10_000;

/** A token bucket per caller, in an LRU of callers. */
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
