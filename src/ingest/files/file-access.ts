/**
 * Files beside a transcript, for its reader.
 *
 * A transcript may name any path. What is reached through this lies in the place that the transcript
 * was found in, also after links are followed; everything else is as if it were not there.
 */

import { open, readdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import type { FileAccess } from "../source.ts";

/** A folder of a transcript has a few files; a listing without end would be an attack. */
const MAX_NAMES = 10_000;

/** `root` is the place's folder, or the transcript itself if that is all there is. */
export function accessAround(transcript: string, root: string): FileAccess {
  const folder = dirname(transcript);
  const place = root === transcript ? folder : root;
  const find = (path: string) => resolveInside(folder, path, place);
  return {
    async readText(path, maxBytes) {
      const found = await find(path);
      return found === undefined ? undefined : readRegular(found, maxBytes);
    },
    async list(path) {
      const found = await find(path);
      if (found === undefined) return [];
      try {
        return (await readdir(found)).sort().slice(0, MAX_NAMES);
      } catch {
        // No folder, or none that we may read.
        return [];
      }
    },
  };
}

async function resolveInside(
  folder: string,
  path: string,
  place: string,
): Promise<string | undefined> {
  if (isAbsolute(path) || path.includes("\0")) return undefined;
  try {
    const [real, root] = await Promise.all([realpath(join(folder, path)), realpath(place)]);
    return isInside(real, root) ? real : undefined;
  } catch {
    // Not there.
    return undefined;
  }
}

export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

async function readRegular(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const facts = await file.stat();
      // A device or a pipe could be without end.
      if (!facts.isFile() || facts.size > maxBytes) return undefined;
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
