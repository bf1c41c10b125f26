/** What upkeep does to the file of segments. What is wrong with the file condemns it, and no more. */

import { closeSync, fdatasync, openSync } from "node:fs";
import { pause } from "../../../async/pause.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { noteThrough } from "../opening/index-ahead.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import type { SegmentFile } from "./segment-file.ts";
import { deletePart, dropOthers, listOld, retire, writeBlobs } from "./segments.ts";
import { whenFree } from "./when-free.ts";

/** The log is moved into the file when so many pages were written to it: about four megabytes. */
const LARGE_LOG_PAGES = 512;

/** They survive power loss once `syncSegments` has resolved. */
export async function writeSegment(
  file: SegmentFile,
  tenant: number,
  segment: number,
  blobs: readonly { readonly blob: number; readonly bytes: Uint8Array }[],
  timeoutMs: number,
): Promise<void> {
  await write(file, timeoutMs, (db) => writeBlobs(db, tenant, segment, blobs));
}

/** Notes how far the segments of a tenant reach in its feed: see `index-ahead.ts`. */
export async function noteIndexed(
  file: SegmentFile,
  tenant: { readonly tenant: number; readonly name: string },
  through: number,
  timeoutMs: number,
): Promise<void> {
  await write(file, timeoutMs, (db) => noteThrough(db, tenant.tenant, tenant.name, through));
}

/**
 * What was written survives power loss from here on. Nothing else syncs: of a segment that no manifest
 * names nobody knows, and one that comes back after it was deleted is deleted again.
 */
export async function syncSegments(file: SegmentFile): Promise<void> {
  // What has been moved into the file was synced there.
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
 * Starts the time after which segments go that are not among `named`. Those that were `joined` go when
 * the file is next cleaned. Of others nobody knows: a manifest may be about to name them.
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
 * Drops what is not among `named`, and deletes what was joined or dropped long ago, bit by bit. Room is
 * given back at `leisure` only: who goes on would fill it again.
 */
export async function cleanSegments(
  file: SegmentFile,
  tenant: number,
  named: readonly number[],
  { keptMs, leisure }: { readonly keptMs: number; readonly leisure: boolean },
  timeoutMs: number,
): Promise<void> {
  await dropSegments(file, tenant, named, [], timeoutMs);
  const old = await write(file, timeoutMs, (db) => listOld(db, tenant, keptMs));
  for (const segment of old) {
    while (await write(file, timeoutMs, (db) => deletePart(db, tenant, segment))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  if (leisure) await shrink(file, keptMs === 0 ? NO_ROOM : USUAL_ROOM, timeoutMs);
}

/** Pages that are given back at a time: 4 MB. */
const PAGES = 512;

/** How much of the file may be empty: giving room back costs as much as writing it did. */
interface Room {
  readonly part: number;
  readonly pages: number;
}
const NO_ROOM: Room = { part: 0, pages: 0 };
const USUAL_ROOM: Room = { part: 0.25, pages: 0 };
/** Who closes the file has mostly nothing more to write into it. */
const LEFT_ROOM: Room = { part: 0.05, pages: PAGES };
const CLOSING_MS = 1_000;

/** Gives empty pages back to the file system, with what they held. */
async function shrink(
  file: SegmentFile,
  room: Room,
  timeoutMs: number,
  forMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const count = (db: SqliteConnection, name: string) => Number(db.get(`PRAGMA ${name}`)?.[name]);
  const started = performance.now();
  while (performance.now() - started < forMs) {
    const isDone = await write(file, timeoutMs, (db) => {
      const empty = count(db, "freelist_count");
      if (empty <= Math.max(room.pages, room.part * count(db, "page_count"))) return true;
      db.all(`PRAGMA incremental_vacuum(${PAGES})`);
      db.pagesWritten += PAGES;
      return count(db, "freelist_count") >= empty;
    });
    if (isDone) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Nothing depends on it: what cannot be moved now is moved later. False if somebody was in the way of
 * all of it.
 */
export function moveLog(file: SegmentFile, mode: "PASSIVE" | "TRUNCATE"): boolean {
  try {
    const db = file.open();
    if (db === undefined || (mode === "PASSIVE" && db.pagesWritten < LARGE_LOG_PAGES)) return true;
    const isMoved = db.checkpoint(mode);
    // Of a part that somebody reads it is tried again soon, but not at every breath.
    db.pagesWritten = isMoved ? 0 : LARGE_LOG_PAGES / 2;
    return isMoved;
  } catch (error) {
    if (BackscrollError.is(error, "store_corrupt")) file.condemn();
    return true;
  }
}

/** A search takes half a second at most, and holds what it began with. */
const SEARCHES_MS = 2_000;

/** What was purged is in no file once the log is empty, so searches that are under way are waited for. */
export async function emptyLog(file: SegmentFile): Promise<void> {
  const deadline = performance.now() + SEARCHES_MS;
  while (!moveLog(file, "TRUNCATE") && performance.now() < deadline) {
    await pause(5);
  }
}

/**
 * Leaves one file behind where it can. `hasBuilt`: segments were written, and without much room in it
 * then. Who has written none leaves the room to who has, a server perhaps, which would fill it again.
 */
export async function closeSegments(file: SegmentFile, hasBuilt: boolean): Promise<void> {
  try {
    if (hasBuilt && file.open() !== undefined) await shrink(file, LEFT_ROOM, 0, CLOSING_MS);
  } catch {
    // Somebody else writes, or the disk is full: nothing depends on it, and the next to close it tries again.
  }
  moveLog(file, "TRUNCATE");
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
