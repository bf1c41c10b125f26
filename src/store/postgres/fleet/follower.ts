/** One hot standby: its store, its reachability and its replayed position. */

import { pause } from "../../../async/pause.ts";
import type { FollowerStatus } from "../../records.ts";
import type { Store } from "../../store.ts";
import { feedPositions, sumPositions } from "../operations/feed.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { FeedMarks } from "./feed-marks.ts";

/** A follower's store and its database. */
export interface OpenedFollower {
  readonly store: Store;
  readonly db: PostgresDatabase;
}

/** The polling interval while a read waits for a follower. */
const ASK_EVERY_MS = 5;

export class Follower {
  /** Without its password. */
  readonly address: string;
  readonly #open: () => Promise<OpenedFollower>;
  readonly #meter = new LagMeter();
  /** Positions that it is known to have replayed, by tenant. */
  readonly #reached = new FeedMarks();
  #opened: OpenedFollower | undefined;
  #isThere = false;
  #openings = 0;
  readonly #listeners = new Map<() => void, (() => void) | undefined>();

  constructor(address: string, open: () => Promise<OpenedFollower>) {
    this.address = address;
    this.#open = open;
  }

  /** Undefined until it was first reached. */
  get store(): Store | undefined {
    return this.#opened?.store;
  }

  /** The number of openings: after each it may have other data. */
  get openings(): number {
    return this.#openings;
  }

  state(now: number): FollowerState {
    return { isThere: this.#isThere, lagMs: this.#meter.lag(now).ms };
  }

  status(now: number): FollowerStatus {
    const { changes, ms } = this.#meter.lag(now);
    return { address: this.address, isThere: this.#isThere, behind: changes, lagMs: ms };
  }

  /** A read failed here: no further reads before the next probe. */
  leaveOut(): void {
    this.#isThere = false;
    this.forget();
  }

  /** Drops the replayed positions, which are then read again. */
  forget(): void {
    this.#reached.clear();
  }

  /**
   * Probes its position, after the primary was probed; `sum` is undefined if the primary is
   * unreachable.
   */
  async look(now: () => number, sum: number | undefined): Promise<void> {
    if (sum !== undefined) this.#meter.samplePrimary(now(), sum);
    try {
      this.#opened ??= await this.#begin();
      this.#meter.sampleFollower(await this.#opened.db.plain(sumPositions));
      this.#isThere = true;
    } catch {
      // It may come back with other data: drop everything remembered.
      this.leaveOut();
      await this.#end();
    }
  }

  /** Whether it has the tenant's changes up to `position`; waits for them until `until`. */
  async reaches(tenant: string, position: number, until: number): Promise<boolean> {
    const db = this.#opened?.db;
    while (this.#reached.of(tenant) < position) {
      if (db === undefined) return false;
      const found = await db.plain((connection) => feedPositions(connection, [tenant]));
      this.#reached.note(tenant, found.get(tenant) ?? 0);
      if (this.#reached.of(tenant) >= position) return true;
      if (Date.now() >= until) return false;
      await pause(ASK_EVERY_MS);
    }
    return true;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.set(listener, this.#opened?.store.onChange(listener));
    return () => {
      this.#listeners.get(listener)?.();
      this.#listeners.delete(listener);
    };
  }

  async close(): Promise<void> {
    this.leaveOut();
    await this.#end();
  }

  async #end(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    for (const [listener, stop] of this.#listeners) {
      stop?.();
      this.#listeners.set(listener, undefined);
    }
    // It may be gone, and nothing of it is needed.
    await opened?.store.close().catch(() => undefined);
  }

  async #begin(): Promise<OpenedFollower> {
    const opened = await this.#open();
    this.#openings++;
    for (const listener of this.#listeners.keys()) {
      this.#listeners.set(listener, opened.store.onChange(listener));
    }
    return opened;
  }
}

/**
 * Replication lag of a follower, from samples of it and its primary. Pure: the caller has the clock.
 *
 * A sample is the sum of all feed positions, which every change increments. The lag is the age of
 * the primary's oldest sample that the follower has not reached, whatever the kind of replication.
 */

/** The limit of samples: a follower further behind is not used. */
const MAX_SAMPLES = 600;

interface FollowerLag {
  /** Changes of all tenants that the follower lacks. */
  readonly changes: number;
  /** How long it has lacked the oldest of them. */
  readonly ms: number;
}

export class LagMeter {
  #unreached: { readonly at: number; readonly sum: number }[] = [];
  #primary = 0;
  #follower = 0;

  samplePrimary(at: number, sum: number): void {
    this.#primary = sum;
    if (sum > this.#follower && this.#unreached.at(-1)?.sum !== sum) {
      this.#unreached.push({ at, sum });
      // Keeps the oldest, which determines the lag.
      if (this.#unreached.length > MAX_SAMPLES) this.#unreached.splice(1, 1);
    }
  }

  sampleFollower(sum: number): void {
    this.#follower = sum;
    this.#unreached = this.#unreached.filter((sample) => sample.sum > sum);
  }

  lag(now: number): FollowerLag {
    const [oldest] = this.#unreached;
    return {
      changes: Math.max(0, this.#primary - this.#follower),
      ms: oldest === undefined ? 0 : now - oldest.at,
    };
  }
}

export interface FollowerState {
  /** It answered the last probe. */
  readonly isThere: boolean;
  /** Its lag in milliseconds. */
  readonly lagMs: number;
}

/** A follower with more lag gets no reads. */
export const MAX_LAG_MS = 10_000;

/** Round robin over usable followers. Gives an index; undefined: use the primary. */
export function chooseFollower(states: readonly FollowerState[], turn: number): number | undefined {
  const usable = states.flatMap((state, i) =>
    state.isThere && state.lagMs <= MAX_LAG_MS ? [i] : [],
  );
  return usable[turn % usable.length];
}
