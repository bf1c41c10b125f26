/**
 * Group commit: one connection commits queued writes together.
 *
 * A durable commit costs an fsync; writes that arrive during one share the next. If one fails, all
 * are retried, each in its own savepoint. While another process holds the write lock, the queue
 * retries with jitter every one or two milliseconds: SQLite's busy handler would block the thread,
 * and is unfair.
 */

import { BackscrollError } from "../../../model/errors.ts";
import type { AppendRequest } from "../../records.ts";
import { compressAhead } from "../operations/blobs.ts";
import { callWrite, type WriteName } from "../operations/index.ts";
import { packAhead } from "../operations/insert-entries.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { isBusy, isForeignKeyFailure } from "../sqlite-errors.ts";
import { checkVersion } from "../sqlite-schema.ts";

/** Operations per transaction: the first waits for the last. */
const MAX_GROUP = 256;

/** Imported entries per transaction; meanwhile other processes wait for the lock. */
const MAX_GROUP_HISTORY = 64;

/**
 * Fairness: after each group of an import the lock stays free for this long, so that processes that
 * retry every one or two milliseconds can take it. The next group is prepared meanwhile.
 */
const PAUSE_MS = 2;

/**
 * Groups with savepoints after a failure. SQLite copies each page changed after a savepoint, and
 * operations rarely fail, so other groups have none.
 */
const SAVEPOINT_GROUPS = 16;

/** Pages per commit in addition to those counted per row. */
const PAGES_PER_COMMIT = 5;

export interface QueuedWrite {
  readonly name: WriteName;
  readonly args: readonly unknown[];
  readonly settle: (outcome: Outcome) => void;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export class WriteQueue {
  readonly #db: SqliteConnection;
  readonly #busyTimeoutMs: number;
  /** Whether other processes may want the lock. */
  readonly #isShared: boolean;
  readonly #waiting: QueuedWrite[] = [];
  #waitingSince: number | undefined;
  #retry: NodeJS.Timeout | NodeJS.Immediate | undefined;
  /** The lock is left free until then. */
  #pausedUntil = 0;
  #seenVersion: number | undefined;
  #savepointGroups = 0;

  constructor(db: SqliteConnection, busyTimeoutMs: number, isShared = true) {
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#isShared = isShared;
  }

  add(write: QueuedWrite): void {
    this.#waiting.push(write);
  }

  get idle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Commits queued writes. If the lock is taken, retries later by itself. */
  drain(): void {
    if (this.#retry !== undefined) return;
    while (this.#waiting.length > 0) {
      const { count, history } = nextGroup(this.#waiting);
      if (history > 0 && !this.#prepare(count)) continue;
      const pause = this.#pausedUntil - performance.now();
      if (pause > 0) {
        this.#drainIn(pause);
        return;
      }
      if (!this.#begin()) return;
      this.#commitGroup(this.#waiting.splice(0, count));
      if (history > 0 && this.#isShared) {
        this.#pausedUntil = performance.now() + PAUSE_MS;
        // Answer this caller before preparing the next batch.
        if (!this.idle) this.#drainSoon();
        return;
      }
    }
  }

  /** Executes one write at once; undefined if another connection holds the lock. */
  runNow(name: WriteName, args: readonly unknown[]): Outcome | undefined {
    try {
      this.#db.begin();
    } catch (error) {
      return isBusy(error) ? undefined : { error };
    }
    let settled: Outcome | undefined;
    const settle = (outcome: Outcome) => {
      settled = outcome;
    };
    this.#commitGroup([{ name, args, settle }]);
    return settled;
  }

  /** Begins a transaction. If false, a retry is scheduled, or the queued writes have failed. */
  #begin(): boolean {
    try {
      this.#db.begin();
      this.#waitingSince = undefined;
      return true;
    } catch (error) {
      this.#waitingSince ??= Date.now();
      const waitedMs = Date.now() - this.#waitingSince;
      if (isBusy(error) && waitedMs < this.#busyTimeoutMs) {
        this.#drainIn(1 + Math.random());
      } else {
        this.#waitingSince = undefined;
        const failure = isBusy(error) ? lockedTooLong(waitedMs, error) : error;
        for (const write of this.#waiting.splice(0)) write.settle({ error: failure });
      }
      return false;
    }
  }

  /**
   * Prepares writes before the lock is taken. False if some failed; their callers have been
   * answered.
   */
  #prepare(count: number): boolean {
    const failed = new Set<QueuedWrite>();
    for (const write of this.#waiting.slice(0, count)) {
      if (write.name !== "append") continue;
      const [tenant, request] = write.args as [string, AppendRequest];
      try {
        this.#checkForeignWrites();
        compressAhead(this.#db, tenant, request);
        packAhead(request);
      } catch (error) {
        // Another process is recovering the log: the transaction waits for it and prepares the rest.
        if (isBusy(error)) break;
        failed.add(write);
        write.settle({ error });
      }
    }
    if (failed.size === 0) return true;
    const left = this.#waiting.filter((write) => !failed.has(write));
    this.#waiting.splice(0, this.#waiting.length, ...left);
    if (this.idle) this.#waitingSince = undefined;
    return false;
  }

  #drainIn(ms: number): void {
    this.#retry = setTimeout(() => this.#drainAgain(), ms);
  }

  #drainSoon(): void {
    this.#retry = setImmediate(() => this.#drainAgain());
  }

  #drainAgain(): void {
    this.#retry = undefined;
    this.drain();
  }

  #commitGroup(group: readonly QueuedWrite[], hasRoom = false): void {
    let outcomes: Outcome[];
    try {
      this.#checkForeignWrites();
      const together = this.#runGroup(group);
      if (together === undefined) {
        this.#db.rollback();
        this.#savepointGroups = SAVEPOINT_GROUPS;
        this.#waiting.unshift(...group);
        return;
      }
      outcomes = together;
      if (this.#db.handle.isTransaction) this.#db.commit();
      this.#db.pagesWritten += PAGES_PER_COMMIT;
    } catch (error) {
      // The whole group was rolled back: reject its callers.
      this.#db.rollback();
      outcomes = group.map(() => ({ error }));
    }
    if (!hasRoom && outcomes.every(isFull) && this.#makeRoom()) {
      this.#commitGroup(group, true);
      return;
    }
    group.forEach((write, i) => {
      write.settle(outcomes[i] ?? { error: new Error("a write without an outcome") });
    });
  }

  /**
   * On a full disk the log cannot grow. A checkpoint lets it begin again from its start, unless the
   * file itself would have to grow: so a deletion works, and so do writes into the pages that it
   * freed. Begins a transaction if it succeeds.
   */
  #makeRoom(): boolean {
    try {
      if (!this.#db.checkpoint("PASSIVE")) return false;
      this.#db.pagesWritten = 0;
      this.#db.begin();
      return true;
    } catch {
      // Still full, or another process is at work: the callers get the first error.
      return false;
    }
  }

  /** Invalidates caches and rechecks the schema if another connection has committed. */
  #checkForeignWrites(): void {
    const version = this.#db.dataVersion();
    if (version === this.#seenVersion) return;
    this.#db.cache.forget();
    this.#db.packs.clear();
    checkVersion(this.#db, "write");
    this.#seenVersion = version;
  }

  /** Undefined if one failed and the state of the others is unknown. */
  #runGroup(group: readonly QueuedWrite[]): Outcome[] | undefined {
    const [only, ...others] = group;
    if (only !== undefined && others.length === 0) return [this.#runAlone(only)];
    if (this.#savepointGroups > 0) {
      this.#savepointGroups--;
      return group.map((write) => this.#runInSavepoint(write));
    }
    try {
      return group.map((write) => ({ value: this.#call(write) }));
    } catch {
      // All are retried, each in a savepoint, and those that fail again are rejected.
      return undefined;
    }
  }

  /** The transaction has one operation: a failure rolls all of it back. */
  #runAlone(write: QueuedWrite): Outcome {
    try {
      return { value: this.#call(write) };
    } catch (error) {
      if (!isForeignKeyFailure(error) || !this.#db.handle.isTransaction) {
        this.#db.rollback();
        return { error };
      }
      this.#db.rollback();
      this.#db.begin();
      return { value: this.#call(write) };
    }
  }

  #runInSavepoint(write: QueuedWrite, again = false): Outcome {
    this.#db.run("SAVEPOINT one");
    try {
      const value = this.#call(write);
      this.#db.run("RELEASE one");
      return { value };
    } catch (error) {
      // A full disk ends the whole transaction, so there is no savepoint to roll back to.
      if (!this.#db.handle.isTransaction) throw error;
      this.#db.tenants.clear();
      this.#db.packs.clear();
      this.#db.cache.forget();
      this.#db.run("ROLLBACK TO one");
      this.#db.run("RELEASE one");
      if (isForeignKeyFailure(error) && !again) return this.#runInSavepoint(write, true);
      return { error };
    }
  }

  #call(write: QueuedWrite): unknown {
    const { cache } = this.#db;
    // Appends update the cache; other writes invalidate it.
    if (write.name !== "append") cache.forget();
    const value = callWrite(this.#db, write.name, write.args);
    if (write.name !== "append") cache.forget();
    return value;
  }
}

/** The number of queued writes in the next transaction, and their entries of histories. */
function nextGroup(waiting: readonly QueuedWrite[]): { count: number; history: number } {
  let count = 0;
  let history = 0;
  for (const { name, args } of waiting) {
    if (count === MAX_GROUP || history >= MAX_GROUP_HISTORY) break;
    const request = name === "append" ? (args[1] as AppendRequest) : undefined;
    if (request?.isHistory) history += request.entries.length;
    count++;
  }
  return { count, history };
}

function isFull(outcome: Outcome): boolean {
  return "error" in outcome && BackscrollError.is(outcome.error, "store_full");
}

function lockedTooLong(waitedMs: number, cause: unknown): BackscrollError {
  return new BackscrollError(
    "store_busy",
    `another process has held the store's write lock for ${Math.round(waitedMs)} ms; try again later`,
    { details: { waitedMs: Math.round(waitedMs), retryAfterMs: 1_000 }, cause },
  );
}
