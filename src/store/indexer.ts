/**
 * Background indexing with back-pressure: flushes this process's writes into segments.
 *
 * Every query scans the unindexed tail. So after a thousand changes the writing process builds a
 * segment in the background, and a writer that outruns indexing waits.
 */

import { idlePause, pause } from "../async/pause.ts";
import { messageOf } from "../model/errors.ts";
import type { MaintenanceReport } from "../search/port.ts";
import type { AppendRequest } from "./records.ts";
import type { StoreOptions } from "./store.ts";

/** Unindexed changes that trigger maintenance: a search reads this many in a few milliseconds. */
export const FLUSH_AT = 1_024;

/**
 * Batching: larger segments cost less per message. Maintenance starts at once only at this many
 * times `flushAt`, and before that after `BATCH_MS`.
 */
const FULL_BATCH_FACTOR = 4;
const BATCH_MS = 200;

/**
 * Back-pressure: writes wait from this many times `flushAt` on, polling at this interval. The
 * threshold is above the size of one segment, so that writing continues while a segment is built.
 */
const BACK_PRESSURE_FACTOR = 10;
const POLL_MS = 10;

/** The retry interval while another process holds the lease: it may have died. */
const BUSY_PAUSE_MS = 1_000;
/** Exponential back-off after a failure. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * The tail is also bounded in bytes: a few hundred tool outputs have as much text as thousands of
 * messages. Maintenance begins at this many bytes, back-pressure at `BACK_PRESSURE_FACTOR` times as many.
 */
export const FLUSH_BYTES: number = 8 * 1024 * 1024;

/** How long closing waits for a maintenance step before it stops it. */
const CLOSE_WAIT_MS = 1_000;

export interface IndexerStore {
  /** One bounded maintenance step, which rebuilds unreadable segments. */
  maintenance(tenant: string, unreadable: readonly number[]): Promise<MaintenanceReport>;
  /** Flushes all unindexed changes into a segment. */
  flush(tenant: string): Promise<MaintenanceReport>;
  /** The number of unindexed changes. */
  lag(tenant: string): Promise<number>;
  /** Ends the current step at its next yield. */
  stop(): Promise<void>;
}

export interface IndexerOptions {
  /** 0: never automatically. */
  readonly flushAt: number;
  /** A short-lived process runs due maintenance before it closes the store. */
  readonly shortLived: boolean;
}

interface Tenant {
  readonly name: string;
  /** Unindexed changes, as far as this process knows. */
  behind: number;
  /** Changes since `behind` was last read; that read may have included some of them. */
  since: number;
  /** Bytes written by this process since the last flush. */
  bytes: number;
  /** Whether `behind` was ever read from the store. */
  known: boolean;
  looking: Promise<void> | undefined;
  /** A scheduled start of maintenance. */
  soon: NodeJS.Timeout | undefined;
  /** Set while the tenant is queued or being maintained. */
  maintenance: Promise<void> | undefined;
  pausedUntil: number;
  pauseMs: number;
  failure: string | undefined;
  /** Segments that a search could not read. */
  unreadable: readonly number[];
  /** Whether segments of an older version were found. */
  isOutdated: boolean;
}

export class Indexer {
  readonly #store: IndexerStore;
  readonly #options: IndexerOptions;
  readonly #tenants = new Map<string, Tenant>();
  /** One step at a time: each waits for the one before it. */
  #last: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(store: IndexerStore, options: IndexerOptions) {
    this.#store = store;
    this.#options = options;
  }

  /**
   * Called after a write. A returned promise must be awaited before the write is acknowledged:
   * back-pressure while the tail is far too long and this process is indexing it.
   */
  wrote(name: string, changes: number | "many", bytes = 0): Promise<void> | undefined {
    const { flushAt } = this.#options;
    if (flushAt === 0 || this.#closing) return undefined;
    const tenant = this.#tenant(name);
    tenant.bytes += bytes;
    if (changes === "many" || !tenant.known) {
      tenant.looking ??= this.#readLag(tenant);
      return undefined;
    }
    tenant.behind += changes;
    tenant.since += changes;
    const isHeavy = tenant.bytes >= FLUSH_BYTES;
    if (tenant.behind < flushAt && !isHeavy) return undefined;
    if (tenant.behind < FULL_BATCH_FACTOR * flushAt && !isHeavy) this.#startSoon(tenant);
    else this.#start(tenant);
    return tenant.maintenance !== undefined && this.#isOverloaded(tenant)
      ? this.#throttle(tenant)
      : undefined;
  }

  /**
   * Called after a search. Schedules a rebuild of segments that it could not read. If the tail is
   * much longer than living writers leave it, they have died, and this process takes over.
   */
  found(name: string, unreadable: readonly number[], lag = 0): void {
    const { flushAt } = this.#options;
    const isAbandoned = flushAt > 0 && lag >= FULL_BATCH_FACTOR * flushAt;
    if (unreadable.length === 0 && !isAbandoned) return;
    const tenant = this.#tenant(name);
    if (unreadable.length > 0) tenant.unreadable = unreadable;
    if (flushAt > 0) this.#start(tenant);
  }

  /**
   * Called when segments of an older version were met. Rebuilds them: once in a process, since two
   * versions may share the store, and in none that is about to end.
   */
  outdated(name: string): void {
    const { flushAt, shortLived } = this.#options;
    const tenant = this.#tenant(name);
    if (flushAt === 0 || shortLived || tenant.isOutdated) return;
    tenant.isOutdated = true;
    this.#start(tenant);
  }

  /** Known unreadable segments. */
  unreadable(name: string): readonly number[] {
    return this.#tenants.get(name)?.unreadable ?? [];
  }

  /** The failure of a tenant's last maintenance; undefined if it succeeded. */
  failure(name: string): string | undefined {
    return this.#tenants.get(name)?.failure;
  }

  /** Waits for maintenance in progress, or stops it. None starts afterwards. */
  async close(): Promise<void> {
    const tenants = [...this.#tenants.values()];
    if (this.#options.shortLived) {
      await Promise.all(tenants.map(({ looking }) => looking));
      for (const tenant of tenants) if (tenant.soon !== undefined) this.#start(tenant);
    }
    for (const { soon } of tenants) clearTimeout(soon);
    this.#closing = true;
    if (this.#options.shortLived) return this.#last;
    await Promise.race([this.#last, idlePause(CLOSE_WAIT_MS)]);
    await this.#store.stop();
    await this.#last;
  }

  #tenant(name: string): Tenant {
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) {
      tenant = {
        name,
        behind: 0,
        since: 0,
        bytes: 0,
        known: false,
        looking: undefined,
        soon: undefined,
        maintenance: undefined,
        pausedUntil: 0,
        pauseMs: FIRST_PAUSE_MS,
        failure: undefined,
        unreadable: [],
        isOutdated: false,
      };
      this.#tenants.set(name, tenant);
    }
    return tenant;
  }

  /** A merge may take minutes, but shortens the tail from time to time. */
  async #throttle(tenant: Tenant): Promise<void> {
    while (tenant.maintenance !== undefined && this.#isOverloaded(tenant)) {
      await Promise.race([tenant.maintenance, idlePause(POLL_MS)]);
      try {
        tenant.behind = await this.#store.lag(tenant.name);
      } catch {
        // The write itself is done; the next one checks again.
        return;
      }
    }
  }

  #isOverloaded({ behind, bytes }: Tenant): boolean {
    return (
      behind >= BACK_PRESSURE_FACTOR * this.#options.flushAt ||
      bytes >= BACK_PRESSURE_FACTOR * FLUSH_BYTES
    );
  }

  /** Reads the index's lag. */
  async #readLag(tenant: Tenant): Promise<void> {
    try {
      tenant.behind = await this.#store.lag(tenant.name);
      tenant.known = true;
      // Counts bytes written meanwhile too: no later write may come to trigger maintenance.
      if (tenant.behind >= this.#options.flushAt || tenant.bytes >= FLUSH_BYTES)
        this.#start(tenant);
    } catch (error) {
      // The store is busy or closed; the next write retries.
      tenant.failure = messageOf(error);
    } finally {
      tenant.looking = undefined;
    }
  }

  #startSoon(tenant: Tenant): void {
    if (tenant.maintenance !== undefined) return;
    tenant.soon ??= setTimeout(() => this.#start(tenant), BATCH_MS).unref();
  }

  #start(tenant: Tenant): void {
    clearTimeout(tenant.soon);
    tenant.soon = undefined;
    if (this.#closing || tenant.maintenance !== undefined || Date.now() < tenant.pausedUntil)
      return;
    tenant.maintenance = this.#last.then(() => this.#run(tenant));
    this.#last = tenant.maintenance;
  }

  /** Never rejects: keeps a failure for the status, and retries later. */
  async #run(tenant: Tenant): Promise<void> {
    try {
      let more = !this.#closing || this.#options.shortLived;
      // Closing the store waits for one step only.
      let through = -1;
      for (let pieces = 0; more && (pieces === 0 || !this.#closing); pieces++) {
        const isHeavy = tenant.bytes >= FLUSH_BYTES;
        const written = tenant.bytes;
        const report = isHeavy
          ? await this.#store.flush(tenant.name)
          : await this.#store.maintenance(tenant.name, tenant.unreadable);
        if (isHeavy && !report.busy) tenant.bytes -= written;
        tenant.since = 0;
        tenant.behind = await this.#store.lag(tenant.name);
        // Includes concurrent writes.
        const isBehind = tenant.behind >= this.#options.flushAt;
        const isStuck = isBehind && report.documents === 0 && report.through <= through;
        if (report.busy) return this.#retryLater(tenant);
        if (isStuck) return this.#pause(tenant);
        more = report.more || isBehind || isHeavy;
        through = report.through;
        if (more) await this.#batch(tenant);
      }
      if (!more) tenant.unreadable = [];
      tenant.failure = undefined;
      tenant.pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      tenant.failure = messageOf(error);
      this.#pause(tenant);
    } finally {
      tenant.maintenance = undefined;
      if (tenant.since > 0) this.#startAgain(tenant);
    }
  }

  /** Changes written at the end of a step would otherwise wait for the next write. */
  #startAgain(tenant: Tenant): void {
    const isDue = tenant.behind + tenant.since >= this.#options.flushAt;
    if (isDue && !this.#closing && Date.now() >= tenant.pausedUntil) this.#startSoon(tenant);
  }

  /** Waits a moment before the next step; during heavy writes, until a large segment is due. */
  async #batch(tenant: Tenant): Promise<void> {
    const { flushAt } = this.#options;
    for (let before = -flushAt; before + flushAt <= tenant.behind; ) {
      before = tenant.behind;
      for (let ms = 0; ms < BATCH_MS; ms += POLL_MS) {
        if (this.#closing || tenant.behind >= FULL_BATCH_FACTOR * flushAt) return;
        // Not `idlePause`: closing the store waits for this.
        await pause(POLL_MS);
      }
    }
  }

  /** Another process holds the lease: it does the work, or has died. */
  #retryLater(tenant: Tenant): void {
    tenant.pausedUntil = Date.now() + BUSY_PAUSE_MS;
    tenant.known = false;
    if (this.#closing) return;
    setTimeout(() => {
      if (!this.#closing) tenant.looking ??= this.#readLag(tenant);
    }, BUSY_PAUSE_MS).unref();
  }

  #pause(tenant: Tenant): void {
    tenant.pausedUntil = Date.now() + tenant.pauseMs;
    tenant.pauseMs = Math.min(tenant.pauseMs * 2, LONGEST_PAUSE_MS);
    // Another process may do the work meanwhile.
    tenant.known = false;
  }
}

/** The flush threshold of a store with these options. */
export function flushAtOf({ readOnly, indexing }: StoreOptions): number {
  return readOnly === true ? 0 : (indexing?.flushAt ?? FLUSH_AT);
}

/** Content bytes of an append. */
export function bytesOfAppend({ entries }: AppendRequest): number {
  return entries.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
}

/** Approximate number of changes of an append. */
export function changesOfAppend({ entries, isHistory }: AppendRequest): number {
  if (isHistory) return entries.length;
  return entries.length + entries.filter(({ usage }) => usage !== null).length;
}
