/**
 * Maintenance of the segment file: sync, deletion, checkpoint and vacuum. Damage discards the file,
 * and does not fail the store.
 */

import { closeSync, fdatasync, openSync } from "node:fs";
import { pause } from "../../../async/pause.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { noteThrough } from "../opening/index-ahead.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { isBusy } from "../sqlite-errors.ts";
import type { SegmentFile } from "./segment-file.ts";
import { deletePart, dropOthers, listOld, retire, writeBlobs } from "./segments.ts";

/** The checkpoint interval: about 4 MB. */
const LARGE_LOG_PAGES = 512;

/** Durable once `syncSegments` has resolved. */
export async function writeSegment(
  file: SegmentFile,
  tenant: number,
  segment: number,
  blobs: readonly { readonly blob: number; readonly bytes: Uint8Array }[],
  timeoutMs: number,
): Promise<void> {
  await write(file, timeoutMs, (db) => writeBlobs(db, tenant, segment, blobs));
}

/** Records the indexed position of a tenant's feed: see `index-ahead.ts`. */
export async function noteIndexed(
  file: SegmentFile,
  tenant: { readonly tenant: number; readonly name: string },
  through: number,
  timeoutMs: number,
): Promise<void> {
  await write(file, timeoutMs, (db) => noteThrough(db, tenant.tenant, tenant.name, through));
}

/**
 * Syncs the segment file. No other operation needs to: power loss can leave a segment that no
 * manifest names, which is unreachable, or restore a deleted one, which is deleted again.
 */
export async function syncSegments(file: SegmentFile): Promise<void> {
  // Checkpointed pages were synced.
  const log = openSync(`${file.path}-wal`, "r+");
  try {
    await new Promise<void>((resolve, reject) => {
      fdatasync(log, (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    closeSync(log);
  }
}

/**
 * Starts the grace period of segments outside `named`: a manifest may be about to name them. Merged
 * ones (`joined`) have none, and are deleted at the next cleaning.
 */
export async function dropSegments(
  file: SegmentFile,
  tenant: number,
  named: readonly number[],
  joined: readonly number[],
  timeoutMs: number,
): Promise<void> {
  await write(file, timeoutMs, (db) => {
    dropOthers(db, tenant, named);
    retire(db, tenant, joined);
  });
}

/**
 * Drops segments outside `named`, and incrementally deletes merged and long dropped ones. Vacuums
 * only if `isIdle`: further maintenance would fill the free pages again.
 */
export async function cleanSegments(
  file: SegmentFile,
  tenant: number,
  named: readonly number[],
  { keptMs, isIdle }: { readonly keptMs: number; readonly isIdle: boolean },
  timeoutMs: number,
): Promise<void> {
  await dropSegments(file, tenant, named, [], timeoutMs);
  const old = await write(file, timeoutMs, (db) => listOld(db, tenant, keptMs));
  for (const segment of old) {
    while (await write(file, timeoutMs, (db) => deletePart(db, tenant, segment))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  if (isIdle) await vacuum(file, keptMs === 0 ? NO_FREE_PAGES : USUAL_FREE_PAGES, timeoutMs);
}

/** Pages vacuumed at a time: 4 MB. */
const VACUUM_PAGES = 512;

/** The tolerated free pages: vacuuming costs as much as writing them did. */
interface FreePages {
  readonly share: number;
  readonly pages: number;
}
const NO_FREE_PAGES: FreePages = { share: 0, pages: 0 };
const USUAL_FREE_PAGES: FreePages = { share: 0.25, pages: 0 };
/** A closing process usually writes no more segments. */
const FREE_PAGES_AT_CLOSE: FreePages = { share: 0.05, pages: VACUUM_PAGES };
const CLOSING_MS = 1_000;

/** Incremental vacuum: returns free pages to the file system. */
async function vacuum(
  file: SegmentFile,
  tolerated: FreePages,
  timeoutMs: number,
  forMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const count = (db: SqliteConnection, name: string) => Number(db.get(`PRAGMA ${name}`)?.[name]);
  const started = performance.now();
  while (performance.now() - started < forMs) {
    const isDone = await write(file, timeoutMs, (db) => {
      const free = count(db, "freelist_count");
      if (free <= Math.max(tolerated.pages, tolerated.share * count(db, "page_count"))) return true;
      db.all(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
      db.pagesWritten += VACUUM_PAGES;
      return count(db, "freelist_count") >= free;
    });
    if (isDone) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Best effort: a later checkpoint completes it. False if a reader blocked all of it. */
export function checkpointLog(file: SegmentFile, mode: "PASSIVE" | "TRUNCATE"): boolean {
  try {
    const db = file.open();
    if (db === undefined || (mode === "PASSIVE" && db.pagesWritten < LARGE_LOG_PAGES)) return true;
    const isComplete = db.checkpoint(mode);
    // A part blocked by a reader is retried soon, but not at every yield.
    db.pagesWritten = isComplete ? 0 : LARGE_LOG_PAGES / 2;
    return isComplete;
  } catch (error) {
    if (BackscrollError.is(error, "store_corrupt")) file.condemn();
    return true;
  }
}

/** How long to wait for the snapshots of running searches: four times their default deadline. */
const SEARCHES_MS = 2_000;

/** Truncates the log, which still holds purged bytes, once running searches have ended. */
export async function truncateLog(file: SegmentFile): Promise<void> {
  const deadline = performance.now() + SEARCHES_MS;
  while (!checkpointLog(file, "TRUNCATE") && performance.now() < deadline) {
    await pause(5);
  }
}

/**
 * Closes the file, checkpointed if possible. `hasBuilt`: this process wrote segments, so it vacuums
 * the file; other processes leave that to the writer of segments.
 */
export async function closeSegments(file: SegmentFile, hasBuilt: boolean): Promise<void> {
  try {
    if (hasBuilt && file.open() !== undefined)
      await vacuum(file, FREE_PAGES_AT_CLOSE, 0, CLOSING_MS);
  } catch {
    // Another process writes, or the disk is full: the next close retries.
  }
  checkpointLog(file, "TRUNCATE");
  file.close();
}

async function write<Result>(
  file: SegmentFile,
  timeoutMs: number,
  action: (db: SqliteConnection) => Result,
): Promise<Result> {
  const db = file.open();
  if (db === undefined) throw new Error(`${file.path} cannot be written`);
  try {
    return await whenFree(db, timeoutMs, () => action(db));
  } catch (error) {
    if (BackscrollError.is(error, "store_corrupt")) file.condemn();
    throw error;
  }
}

/** Runs `action` as one write transaction once the lock is free. */
export async function whenFree<Result>(
  db: SqliteConnection,
  timeoutMs: number,
  action: () => Result,
): Promise<Result> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return runWrite(db, action);
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await pause(1 + Math.random());
    }
  }
}

export function runWrite<Result>(db: SqliteConnection, action: () => Result): Result {
  db.begin();
  try {
    const value = action();
    db.commit();
    return value;
  } catch (error) {
    db.rollback();
    throw error;
  }
}
