/** Deletes copies of stores left behind by a killed server: each is as large as its store. */

import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COPY_FILE, COPY_PREFIX } from "./store-copy.ts";

/** No copy takes this long; one being sent is open, and stays readable to its end. */
const LEFT_OVER_MS = 24 * 60 * 60 * 1000;

/** As `mkdtemp` names a folder. */
const FOLDER = new RegExp(`^${COPY_PREFIX}[A-Za-z0-9]{6}$`);
/** The copy, also while in progress, and SQLite's files beside it. */
const OWN_FILE = new RegExp(
  `^${COPY_FILE.replace(".", "\\.")}(?:\\.partial)?(?:-(?:wal|shm|journal|index|index-wal|index-shm))?$`,
);

/**
 * Deletes those of this user. A folder with any other content is not ours, whatever its name.
 * Copies that cannot be deleted stay.
 */
export async function removeLeftOverCopies(now: number = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => FOLDER.test(each))) {
    const folder = join(tmpdir(), name);
    const files = await filesLeftOver(folder, now).catch(() => undefined);
    if (files !== undefined) await remove(folder, files).catch(() => undefined);
  }
}

/** Undefined unless all of it is old and ours. Links are not followed: any user may plant one. */
async function filesLeftOver(folder: string, now: number): Promise<string[] | undefined> {
  const own = await lstat(folder);
  if (!own.isDirectory() || own.uid !== (process.getuid?.() ?? own.uid)) return undefined;
  const files = await readdir(folder);
  const within = await Promise.all(files.map((file) => lstat(join(folder, file))));
  const isCopy = files.every((file, i) => OWN_FILE.test(file) && within[i]?.isFile() === true);
  const isOld = [own, ...within].every(({ mtimeMs }) => now - mtimeMs > LEFT_OVER_MS);
  return isCopy && isOld ? files : undefined;
}

/** One by one: an unexpected new file keeps the folder. */
async function remove(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) await unlink(join(folder, file));
  await rmdir(folder);
}
