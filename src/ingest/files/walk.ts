/**
 * From a place to its files.
 *
 * A place may hold a million files: they are handed out in small groups as the folders are read, and
 * nothing but the folders that are open is remembered. No link is followed below the place's root: one
 * that leads inside leads to what is found anyway, and one that leads outside is not ours to read.
 */

import type { Dir, Dirent, Stats } from "node:fs";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Place } from "../source.ts";

export interface FoundFile {
  readonly path: string;
  /** The folder that the file's reader may look around in. */
  readonly root: string;
  readonly size: number;
  readonly mtimeUs: number;
  /** Bytes that the disk holds of it: far less than its size if it is mostly holes. */
  readonly allocated: number;
}

/** What was passed over, by why. */
export interface WalkCounts {
  links: number;
  /** Devices, sockets and pipes. */
  special: number;
  /** Folders and files that may not be read, or went away meanwhile. */
  unreadable: number;
  /** Folders nested deeper than anybody nests them. */
  tooDeep: number;
}

export function noCounts(): WalkCounts {
  return { links: 0, special: 0, unreadable: 0, tooDeep: 0 };
}

/** Files whose facts are asked for at a time. */
const GROUP = 256;

const MAX_DEPTH = 64;

/** A place that is not there has no files. In the order in which the file system gives them. */
export async function* walk(
  place: Place,
  counts: WalkCounts,
): AsyncGenerator<readonly FoundFile[]> {
  let root: string;
  let facts: Stats;
  try {
    // The root itself may be a link: whoever named it meant what it leads to.
    root = await realpath(place.root);
    facts = await stat(root);
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
  let group: string[] = [];
  for await (const path of walkFolder(root, "", place, 0, counts)) {
    if (group.push(path) < GROUP) continue;
    yield await findFacts(root, group, counts);
    group = [];
  }
  if (group.length > 0) yield await findFacts(root, group, counts);
}

export function mtimeUsOf(facts: Stats): number {
  return Math.round(facts.mtimeMs * 1000);
}

/** Also of a file that somebody named: `root` is then its folder. */
export function toFound(root: string, path: string, facts: Stats): FoundFile {
  const allocated = facts.blocks === undefined ? facts.size : facts.blocks * 512;
  return { path, root, size: facts.size, mtimeUs: mtimeUsOf(facts), allocated };
}

async function* walkFolder(
  root: string,
  folder: string,
  place: Place,
  depth: number,
  counts: WalkCounts,
): AsyncGenerator<string> {
  if (depth > MAX_DEPTH) {
    counts.tooDeep++;
    return;
  }
  let entries: Dir;
  try {
    entries = await opendir(join(root, folder), { bufferSize: GROUP });
  } catch {
    counts.unreadable++;
    return;
  }
  try {
    for await (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (place.skips?.(path) !== true) {
          yield* walkFolder(root, path, place, depth + 1, counts);
        }
      } else if (entry.isFile()) {
        if (place.matches(path)) yield path;
      } else countOther(entry, place.matches(path), counts);
    }
  } catch {
    // The folder went away, or its disk fails: what was found before is handed out all the same.
    counts.unreadable++;
  }
}

function countOther(entry: Dirent, isMeant: boolean, counts: WalkCounts): void {
  if (entry.isSymbolicLink()) counts.links++;
  else if (isMeant) counts.special++;
}

async function findFacts(
  root: string,
  paths: readonly string[],
  counts: WalkCounts,
): Promise<FoundFile[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const full = join(root, path);
      try {
        const facts = await lstat(full);
        // It may have become something else since its name was read.
        return facts.isFile() ? toFound(root, full, facts) : undefined;
      } catch {
        counts.unreadable++;
        return undefined;
      }
    }),
  );
  return found.filter((file) => file !== undefined);
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
