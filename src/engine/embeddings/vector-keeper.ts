/**
 * Embeds new messages in the background: after the commit, in one process per tenant (elected by
 * lease). An append never waits for it and never fails because of it.
 *
 * Messages stored before the process had an embedder are left to `embedStored`.
 */

import { pause } from "../../async/pause.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import { LEASE_MS } from "../../model/lease.ts";
import type { Embedder } from "../../model/models.ts";
import type { Store } from "../../store/store.ts";
import { claimsHere, holdLease } from "../leases/hold-lease.ts";
import { embedBatch } from "./embed-batch.ts";

/** Messages written within this time are embedded together. */
const GATHER_MS = 250;
/** Another process holds the lease: check again later, and take over if it has died. */
const BUSY_MS = 2_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
/** Merging pays from this many segments on. */
const MANY_SEGMENTS = 16;

/** The lease of the process that embeds a tenant's messages. */
export function leaseNameOf(tenant: string): string {
  return `embed:${tenant}`;
}

export interface KeeperOptions {
  readonly store: Store;
  readonly embedder: Embedder;
  /** The feed's end of each tenant when the process started; missing tenants had none. */
  readonly heads: ReadonlyMap<string, number>;
  readonly owner: string;
  /** Called with each tenant that has new vectors. */
  readonly onVectors: (tenant: string) => void;
  /** Called with the first failure in a row, and for a store with vectors of another embedder. */
  readonly onWarning: (sentence: string) => void;
}

interface Watched {
  isDue: boolean;
  hasFailed: boolean;
  pauseMs: number;
  pausedUntil: number;
  /** The store has vectors of another embedder. */
  isOther: boolean;
}

export class VectorKeeper {
  readonly #options: KeeperOptions;
  readonly #tenants = new Map<string, Watched>();
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.onChange(() => {
      for (const tenant of this.#tenants.values()) tenant.isDue = true;
      this.#soon(GATHER_MS);
    });
  }

  /** Embeds this tenant's messages from now on. */
  watch(name: string): void {
    if (this.#tenants.has(name)) return;
    const none = { hasFailed: false, pauseMs: FIRST_PAUSE_MS, pausedUntil: 0, isOther: false };
    this.#tenants.set(name, { ...none, isDue: true });
    this.#soon(GATHER_MS);
  }

  /** Abandons the work in progress. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #soon(ms: number): void {
    if (this.#stop.signal.aborted || this.#running !== undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
        const next = this.#nextMs();
        if (next !== undefined) this.#soon(next);
      });
    }, ms).unref();
  }

  /** The delay until the next work; undefined: until a write. */
  #nextMs(): number | undefined {
    const due = [...this.#tenants.values()].filter(({ isDue, isOther }) => isDue && !isOther);
    if (due.length === 0) return undefined;
    const first = Math.min(...due.map(({ pausedUntil }) => pausedUntil));
    return Math.max(GATHER_MS, first - Date.now());
  }

  async #run(): Promise<void> {
    for (const [name, tenant] of this.#tenants) {
      if (this.#stop.signal.aborted) return;
      if (!tenant.isDue || tenant.isOther || Date.now() < tenant.pausedUntil) continue;
      tenant.isDue = false;
      await this.#keep(name, tenant);
    }
  }

  /** Never rejects: reports a failure and retries later. */
  async #keep(name: string, tenant: Watched): Promise<void> {
    const { store, owner, onWarning } = this.#options;
    let isDone = false;
    try {
      const claim = { store, name: leaseNameOf(name), owner, durationMs: LEASE_MS, patienceMs: 0 };
      await holdLease({ ...claim, signal: this.#stop.signal }, async (signal) => {
        isDone = await this.#catchUp(name, AbortSignal.any([signal, this.#stop.signal]));
      });
      tenant.hasFailed = false;
      tenant.pauseMs = FIRST_PAUSE_MS;
      if (!isDone) this.#again(tenant, BUSY_MS);
    } catch (error) {
      if (this.#stop.signal.aborted || BackscrollError.is(error, "store_closed")) return;
      const why = messageOf(error);
      tenant.isOther = BackscrollError.is(error, "embedder_conflict");
      if (tenant.isOther) return onWarning(why);
      if (!tenant.hasFailed) onWarning(`embedding new messages failed and will be retried: ${why}`);
      tenant.hasFailed = true;
      this.#again(tenant, tenant.pauseMs);
      tenant.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * tenant.pauseMs);
    }
  }

  #again(tenant: Watched, ms: number): void {
    tenant.isDue = true;
    tenant.pausedUntil = Date.now() + ms;
  }

  /** False if it was stopped, or gave way to `embedStored`. */
  async #catchUp(tenant: string, signal: AbortSignal): Promise<boolean> {
    const { store, embedder, heads } = this.#options;
    const { vectors } = await store.indexStatus(tenant);
    let from = vectors?.through ?? heads.get(tenant) ?? 0;
    for (let done = false; !done; ) {
      if (signal.aborted || claimsHere(store, leaseNameOf(tenant)) > 1) return false;
      const batch = await embedBatch({ store, tenant, embedder, signal }, from);
      ({ through: from, done } = batch);
      if (batch.pieces > 0) this.#options.onVectors(tenant);
      const status = await store.indexStatus(tenant);
      if ((status.vectors?.segments ?? 0) > MANY_SEGMENTS) await store.maintain(tenant, "maintain");
      // Yields to searches.
      await pause(0, signal);
    }
    return true;
  }
}
