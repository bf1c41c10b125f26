/**
 * Walks a root folder.
 *
 * A place may hold a million files: they come in small groups as folders are read, and only open
 * folders are held in memory. No link is followed below the place's root: its target is either
 * found anyway or outside of the root.
 */

import { type Dir, type Dirent, lstatSync, type Stats } from "node:fs";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import type { Place } from "../source.ts";

export interface FoundFile {
  readonly path: string;
  /** The folder that confines the file's reader. */
  readonly root: string;
  readonly size: number;
  readonly mtimeUs: number;
  /** Allocated bytes: far below the size of a sparse file. */
  readonly allocated: number;
}

/** Skipped paths by reason. */
export interface WalkCounts {
  links: number;
  /** Devices, sockets and named pipes. */
  special: number;
  /** Unreadable, or deleted meanwhile. */
  unreadable: number;
  /** Folders nested too deeply. */
  tooDeep: number;
}

export function noCounts(): WalkCounts {
  return { links: 0, special: 0, unreadable: 0, tooDeep: 0 };
}

/** Files that are stat'ed concurrently. */
const GROUP = 256;

/** Names read before yielding: some milliseconds. */
const NAMES_AT_ONCE = 4096;

const MAX_DEPTH = 64;

/**
 * A missing place has no files. In file-system order. `below` is a folder to start in, relative to
 * the root. Default: the whole place.
 */
export async function* walk(
  place: Place,
  counts: WalkCounts,
  below = "",
): AsyncGenerator<readonly FoundFile[]> {
  let root: string;
  let facts: Stats;
  try {
    // The root itself may be a link.
    root = await realpath(place.root);
    facts = await stat(root);
    if (below !== "" && (await realpath(join(root, below))) !== join(root, below)) return;
  } catch (error) {
    if (!isMissing(error)) counts.unreadable++;
    return;
  }
  if (facts.isFile()) {
    if (place.matches(basename(root))) yield [toFound(root, root, facts)];
    return;
  }
  if (!facts.isDirectory()) {
    counts.special++;
    return;
  }
  const prefix = root.endsWith(sep) ? root : root + sep;
  let group: string[] = [];
  const folders: OpenFolder[] = [];
  try {
    await openFolder(join(root, below), below, folders, counts);
    for (let last = folders.at(-1); last !== undefined; last = folders.at(-1)) {
      const next = readUntilFolder(last, place, group, counts);
      if (group.length >= GROUP) {
        yield await findFacts(root, prefix, group, counts);
        group = [];
      } else if (next === MORE) await new Promise((resolve) => setImmediate(resolve));
      else if (next === undefined) close(folders.pop());
      else await openFolder(join(root, next), next, folders, counts);
    }
  } finally {
    for (const folder of folders) close(folder);
  }
  if (group.length > 0) yield await findFacts(root, prefix, group, counts);
}

export function mtimeUsOf(facts: Stats): number {
  return Math.round(facts.mtimeMs * 1000);
}

/** Also for a named file: `root` is then its folder. */
export function toFound(root: string, path: string, facts: Stats): FoundFile {
  const allocated = facts.blocks === undefined ? facts.size : facts.blocks * 512;
  return { path, root, size: facts.size, mtimeUs: mtimeUsOf(facts), allocated };
}

interface OpenFolder {
  readonly entries: Dir;
  /** Relative to the root. */
  readonly path: string;
}

async function openFolder(
  full: string,
  path: string,
  folders: OpenFolder[],
  counts: WalkCounts,
): Promise<void> {
  if (folders.length > MAX_DEPTH) {
    counts.tooDeep++;
    return;
  }
  try {
    folders.push({ entries: await opendir(full, { bufferSize: GROUP }), path });
  } catch {
    counts.unreadable++;
  }
}

function close(folder: OpenFolder | undefined): void {
  try {
    folder?.entries.closeSync();
  } catch {
    // Already closed, or its disk is gone.
  }
}

/** No path is empty, so this marks more names. */
const MORE = "";

/**
 * Reads names into `group` until it is full, too many names did not match, or a folder to enter is
 * met, which is returned; undefined at the end of the folder. Synchronous: the system gives
 * hundreds of names per call, and a promise for each would cost more.
 */
function readUntilFolder(
  { entries, path: folder }: OpenFolder,
  place: Place,
  group: string[],
  counts: WalkCounts,
): string | undefined {
  try {
    for (let read = 0; group.length < GROUP; read++) {
      if (read === NAMES_AT_ONCE) return MORE;
      const entry = entries.readSync();
      if (entry === null) return undefined;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) {
        if (place.matches(path)) group.push(path);
      } else if (!entry.isDirectory()) countOther(entry, place.matches(path), counts);
      else if (place.skips?.(path) !== true) return path;
    }
  } catch {
    // The folder was deleted or its disk fails: yield the files found before.
    counts.unreadable++;
  }
  return undefined;
}

function countOther(entry: Dirent, isMeant: boolean, counts: WalkCounts): void {
  if (entry.isSymbolicLink()) counts.links++;
  else if (isMeant) counts.special++;
}

/** Files stat'ed in a row, and how long a fast disk takes for them. */
const AT_ONCE = 16;
const QUICK_MS = 2;

/**
 * For cached inodes a synchronous stat is cheaper than a promise. When the disk is slow, the rest
 * of the group is read asynchronously.
 */
async function findFacts(
  root: string,
  prefix: string,
  paths: readonly string[],
  counts: WalkCounts,
): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const add = (full: string, facts: Stats | undefined) => {
    if (facts === undefined) counts.unreadable++;
    // It may have been replaced since its name was read.
    else if (facts.isFile()) found.push(toFound(root, full, facts));
  };
  const all = paths.map((path) => (sep === "/" ? prefix + path : join(root, path)));
  let done = 0;
  for (let isQuick = true; isQuick && done < all.length; ) {
    const started = performance.now();
    const end = Math.min(all.length, done + AT_ONCE);
    for (const full of all.slice(done, end)) add(full, factsOf(full));
    done = end;
    isQuick = performance.now() - started < QUICK_MS;
  }
  const rest = all.slice(done);
  const late = await Promise.all(rest.map((full) => lstat(full).catch(() => undefined)));
  for (const [i, full] of rest.entries()) add(full, late[i]);
  return found;
}

function factsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
