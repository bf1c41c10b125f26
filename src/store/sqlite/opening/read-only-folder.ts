/**
 * Reads a store in a read-only folder.
 *
 * SQLite reads a database in WAL mode through the `-shm` file, which it creates if needed. Where it
 * may not:
 *
 * - with both `-wal` and `-shm` it reads the log without writing to either;
 * - without a log the database is opened as immutable: writes of processes with more rights become
 *   visible at the next opening;
 * - a log without `-shm` cannot be read in place: the store is copied to a temporary folder.
 */

import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { BackscrollError } from "../../../model/errors.ts";

/** The location at which SQLite opens a read-only file. */
export function locationForReading(path: string): string | URL {
  if (isWritable(dirname(path)) || logBytes(path) > 0) return path;
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) return path;
  const url = pathToFileURL(path);
  url.search = "immutable=1";
  return url;
}

export interface StoreCopy {
  readonly path: string;
  remove(): void;
}

/** Undefined if the store can be read in place. */
export function copyForReading(path: string): StoreCopy | undefined {
  if (!needsCopy(path)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "backscroll-read-"));
  const copy = join(folder, basename(path));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (copyStore(path, copy)) return { path: copy, remove };
  } catch (cause) {
    remove();
    throw new BackscrollError(
      "store_unavailable",
      `${path} has a write-ahead log and its folder may not be written, so it is read from a copy, which failed: ${(cause as Error).message}; make room in ${tmpdir()}, or let the folder be written`,
      { details: { path }, cause },
    );
  }
  remove();
  // Another process opened it meanwhile and created the `-shm` file.
  if (!needsCopy(path)) return undefined;
  throw new BackscrollError("store_busy", `${path} was written to while it was copied; try again`, {
    details: { path },
  });
}

function needsCopy(path: string): boolean {
  return !isWritable(dirname(path)) && logBytes(path) > 0 && !existsSync(`${path}-shm`);
}

/**
 * With plain file calls: without a `-shm` file no connection has the store open, so they drop no
 * lock. False if it changed meanwhile.
 */
function copyStore(path: string, copy: string): boolean {
  const before = stampOf(path);
  for (const suffix of ["", "-wal", "-index", "-index-wal"]) {
    if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
  }
  return before === stampOf(path) && !existsSync(`${path}-shm`);
}

/** Changes when the database or its log does. */
function stampOf(path: string): string {
  const stamp = ({ ino, size, mtimeMs }: Stats) => `${ino}/${size}/${mtimeMs}`;
  return `${stamp(statSync(path))} ${stamp(statSync(`${path}-wal`))}`;
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    // Not permitted, or a read-only mount.
    return false;
  }
}
