/**
 * Bounds the event-loop time of one tenant's bodies while other tenants are active.
 *
 * Measuring, decompressing and parsing a body blocks everyone else. So this work is done in slices
 * of milliseconds, one at a time per tenant, and paid from a token bucket of time: a tenant that
 * has used it up waits for its refill. A lone tenant never waits, nor does one that sends bodies of
 * ordinary size.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";

export interface WorkShareOptions {
  /** A tenant's long-term share of the time. */
  readonly share: number;
  /** The burst, in milliseconds of work. */
  readonly burstMs: number;
  /**
   * The longest wait of a piece of work, for earlier ones and for its turn; beyond it, it is
   * refused.
   */
  readonly patienceMs: number;
}

/** With a quarter, another tenant's request seldom meets more than one piece of work. */
export const WORK_SHARE: WorkShareOptions = { share: 0.25, burstMs: 50, patienceMs: 10_000 };

/** Yields after a longer piece of work. */
const TURN_MS = 1;
/** How long a tenant counts as active after its last request. */
const PRESENT_MS = 1_000;
/** The number of buckets: an LRU by last work. */
const MAX_TENANTS = 10_000;

interface Bucket {
  /** Milliseconds of work; negative: debt. */
  level: number;
  at: number;
  /** The last queued piece of work. */
  last: Promise<void>;
}

interface Clock {
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** The next turn of the event loop. */
  readonly turn: () => Promise<void>;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  wait: pause,
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

export class WorkShare {
  readonly #options: WorkShareOptions;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();
  /** The last two active tenants. */
  #latest = { tenant: "", at: Number.NEGATIVE_INFINITY };
  #earlier = { tenant: "", at: Number.NEGATIVE_INFINITY };

  constructor(options: WorkShareOptions = WORK_SHARE, clock: Clock = CLOCK) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Records a request of the tenant. */
  saw(tenant: string): void {
    if (this.#latest.tenant !== tenant) this.#earlier = this.#latest;
    this.#latest = { tenant, at: this.#clock.now() };
  }

  /** Runs `work` in its turn. Throws `rate_limited` as soon as that would take too long. */
  async run<Result>(tenant: string, work: () => Result): Promise<Result> {
    return this.#inTurn(tenant, work, (ms, left) => {
      if (ms > left) throw tooMuchWork(ms);
      return false;
    });
  }

  /**
   * `isEnough` decides whether to go on before `ms` of debt are paid, with `left` ms of patience.
   */
  async #inTurn<Result>(
    tenant: string,
    work: () => Result,
    isEnough: (ms: number, left: number) => boolean,
  ): Promise<Result> {
    const until = this.#clock.now() + this.#options.patienceMs;
    const bucket = this.#bucket(tenant);
    const before = bucket.last;
    let end: () => void = () => undefined;
    bucket.last = new Promise((resolve) => {
      end = resolve;
    });
    try {
      await before;
      await this.#paid(tenant, bucket, until, isEnough);
      const started = this.#clock.now();
      try {
        return work();
      } finally {
        const ms = this.#clock.now() - started;
        this.charge(tenant, ms);
        if (ms > TURN_MS) await this.#clock.turn();
      }
    } finally {
      end();
    }
  }

  /** Charges work done elsewhere. */
  charge(tenant: string, ms: number): void {
    const bucket = this.#bucket(tenant);
    this.#fill(bucket);
    bucket.level -= ms;
  }

  /** Resolves when the tenant's debt is paid, or after the maximum wait. */
  async settle(tenant: string): Promise<void> {
    await this.#inTurn(
      tenant,
      () => undefined,
      (_, left) => left <= 0,
    );
  }

  async #paid(
    tenant: string,
    bucket: Bucket,
    until: number,
    isEnough: (ms: number, left: number) => boolean,
  ): Promise<void> {
    const { share } = this.#options;
    for (;;) {
      this.#fill(bucket);
      if (bucket.level >= 0 || this.#isAlone(tenant)) return;
      const ms = Math.ceil(-bucket.level / share);
      const left = until - this.#clock.now();
      if (isEnough(ms, left)) return;
      // Other tenants may have become inactive meanwhile.
      await this.#clock.wait(Math.min(ms, left, PRESENT_MS));
    }
  }

  #isAlone(tenant: string): boolean {
    const since = this.#clock.now() - PRESENT_MS;
    return [this.#latest, this.#earlier].every((seen) => seen.tenant === tenant || seen.at < since);
  }

  #fill(bucket: Bucket): void {
    const { share, burstMs } = this.#options;
    const now = this.#clock.now();
    bucket.level = Math.min(burstMs, bucket.level + (now - bucket.at) * share);
    bucket.at = now;
  }

  #bucket(tenant: string): Bucket {
    const bucket = this.#buckets.get(tenant) ?? {
      level: this.#options.burstMs,
      at: this.#clock.now(),
      last: Promise.resolve(),
    };
    // Reinserted, so that the map is in LRU order.
    this.#buckets.delete(tenant);
    this.#buckets.set(tenant, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_TENANTS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

function tooMuchWork(retryAfterMs: number): BackscrollError {
  return new BackscrollError(
    "rate_limited",
    "the tenant's large bodies take more time than its share; send fewer or smaller ones",
    { details: { retryAfterMs } },
  );
}
