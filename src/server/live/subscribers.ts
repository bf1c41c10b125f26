/** Counts followers of the feed: current, maximum and dropped ones. */

import { BackscrollError } from "../../model/errors.ts";
import { MAX_FOLLOWERS, MAX_TENANT_FOLLOWERS } from "../../model/limits.ts";
import type { EventStreamOptions } from "./event-stream.ts";

/** Limits of open event streams. */
export interface FollowerLimits {
  readonly perTenant: number;
  readonly perProcess: number;
}

export interface LiveOptions {
  readonly heartbeatMs?: number;
  readonly stallMs?: number;
  /** Default: 100 per tenant and 1,000 in all. */
  readonly followers?: FollowerLimits;
}

const HEARTBEAT_MS = 15_000;
const STALL_MS = 30_000;
const FOLLOWERS: FollowerLimits = { perTenant: MAX_TENANT_FOLLOWERS, perProcess: MAX_FOLLOWERS };
/** Streams last: a place is seldom free after a second. */
const RETRY_MS = 10_000;

export class Subscribers {
  readonly #heartbeatMs: number;
  readonly #stallMs: number;
  readonly #limits: FollowerLimits;
  readonly #byTenant = new Map<string, number>();
  readonly #reading: EventStreamOptions["reading"] = new Map();
  #open = 0;
  #dropped = 0;

  constructor(options: LiveOptions = {}) {
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#stallMs = options.stallMs ?? STALL_MS;
    this.#limits = options.followers ?? FOLLOWERS;
  }

  get count(): number {
    return this.#open;
  }

  /** Dropped stalled readers. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Interval of heartbeats and of re-authentication, in milliseconds. */
  get heartbeatMs(): number {
    return this.#heartbeatMs;
  }

  /**
   * Counts a follower until the returned function is called. Throws `rate_limited` at the tenant's
   * limit, `store_busy` at the server's.
   */
  enter(tenant: string): () => void {
    const own = this.#byTenant.get(tenant) ?? 0;
    const { perTenant, perProcess } = this.#limits;
    if (own >= perTenant) throw tooMany("rate_limited", "the tenant", perTenant);
    if (this.#open >= perProcess) throw tooMany("store_busy", "the server", perProcess);
    this.#byTenant.set(tenant, own + 1);
    this.#open++;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#open--;
      const left = (this.#byTenant.get(tenant) ?? 1) - 1;
      if (left === 0) this.#byTenant.delete(tenant);
      else this.#byTenant.set(tenant, left);
    };
  }

  /** Counts a subscriber, as `enter` does, until its stream has ended in any way. */
  open(
    tenant: string,
    cutOff: () => void,
  ): Pick<EventStreamOptions, "heartbeatMs" | "stallMs" | "reading" | "onDrop" | "onEnd"> {
    const leave = this.enter(tenant);
    return {
      heartbeatMs: this.#heartbeatMs,
      stallMs: this.#stallMs,
      reading: this.#reading,
      onDrop: () => {
        this.#dropped++;
        cutOff();
      },
      onEnd: leave,
    };
  }
}

function tooMany(code: "rate_limited" | "store_busy", whose: string, limit: number) {
  return new BackscrollError(
    code,
    `${whose} has ${limit} streams of events open; close one, or read /v1/changes page by page`,
    { details: { limit, retryAfterMs: RETRY_MS } },
  );
}
