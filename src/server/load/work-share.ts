/**
 * How much of the event loop one tenant's bodies may take while other tenants are there.
 *
 * To measure, unpack and parse a body blocks everybody else. So this work is done in pieces of
 * milliseconds, one at a time for a tenant, and paid from a token bucket of time: a tenant that has used
 * it up waits until it is filled again. A tenant that is alone never waits, nor does one that sends
 * bodies of ordinary size.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";

export interface WorkShareOptions {
  /** The part of the time that a tenant gets in the long run. */
  readonly share: number;
  /** Milliseconds of work at once. */
  readonly burstMs: number;
  /** A piece of work that would wait longer, for those before it and for its turn, is refused. */
  readonly patienceMs: number;
}

/** With a quarter, a request of another tenant seldom meets more than one piece of work. */
export const WORK_SHARE: WorkShareOptions = { share: 0.25, burstMs: 50, patienceMs: 10_000 };

/** After a piece of work that took longer, others have their turn. */
const TURN_MS = 1;
/** How long after its last request a tenant counts as there. */
const PRESENT_MS = 1_000;
/** Tenants whose buckets are remembered; the one that worked longest ago is forgotten first. */
const MAX_TENANTS = 10_000;

interface Bucket {
  /** Milliseconds of work; below zero it is owed. */
  level: number;
  at: number;
  /** The last piece of work that was asked for. */
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
  /** The last two tenants that sent a request. */
  #latest = { tenant: "", at: Number.NEGATIVE_INFINITY };
  #earlier = { tenant: "", at: Number.NEGATIVE_INFINITY };

  constructor(options: WorkShareOptions = WORK_SHARE, clock: Clock = CLOCK) {
    this.#options = options;
    this.#clock = clock;
  }

  /** The tenant has sent a request. */
  saw(tenant: string): void {
    if (this.#latest.tenant !== tenant) this.#earlier = this.#latest;
    this.#latest = { tenant, at: this.#clock.now() };
  }

  /** Does `work` when it is its turn. Throws `rate_limited` as soon as that would take too long. */
  async run<Result>(tenant: string, work: () => Result): Promise<Result> {
    return this.#inTurn(tenant, work, (ms, left) => {
      if (ms > left) throw tooMuchWork(ms);
      return false;
    });
  }

  /** `isEnough` is asked whether to go on before `ms` of debt are paid, with `left` ms of patience. */
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

  /** Work that was done elsewhere. */
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
      // Other tenants may have left meanwhile.
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
    // Set anew, so that the map is in the order of the last work.
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
