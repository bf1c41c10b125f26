/** Copies of stores that a server has left behind because it was killed: each is as large as its store. */

import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COPY_PREFIX } from "./store-copy.ts";

/** No copy is made for so long; one that is still being sent is open, and can be read to its end. */
const LEFT_OVER_MS = 24 * 60 * 60 * 1000;

/** Removes those of this user. What cannot be removed stays: it is in nobody's way but the disk's. */
export async function removeLeftOverCopies(now: number = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(COPY_PREFIX))) {
    const folder = join(tmpdir(), name);
    const isOld = await isLeftOver(folder, now).catch(() => false);
    if (isOld) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Anybody may put something into the temporary folder: a link is followed by nobody here. */
async function isLeftOver(folder: string, now: number): Promise<boolean> {
  const own = await lstat(folder);
  if (!own.isDirectory() || own.uid !== (process.getuid?.() ?? own.uid)) return false;
  const files = await readdir(folder);
  const within = await Promise.all(files.map((file) => lstat(join(folder, file))));
  return [own, ...within].every(({ mtimeMs }) => now - mtimeMs > LEFT_OVER_MS);
}
