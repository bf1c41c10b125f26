/**
 * The file `.backscrollignore`: conversations of agents that work in its folder, or in folders that
 * its lines name, are never stored.
 *
 * A line is a pattern of folders in the manner of gitignore, without negation and classes. A file
 * that cannot be read counts as one without lines, which names everything.
 */

import { lstat, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

export const IGNORE_FILE = ".backscrollignore";

/** More bytes are no list of folders. */
const MAX_BYTES = 64 * 1024;

/** Stands for any number of folders. */
const ANY = "**";

/** Each pattern as names of folders; one of them matches a path or its beginning. */
export type IgnoredFolders = readonly (readonly string[])[];

const EVERYTHING: IgnoredFolders = [[ANY]];

/** Undefined if the folder has no such file. */
export async function readIgnoreFile(folder: string): Promise<IgnoredFolders | undefined> {
  const path = join(folder, IGNORE_FILE);
  try {
    const facts = await stat(path);
    // A pipe would wait for a writer.
    if (!facts.isFile() || facts.size > MAX_BYTES) return EVERYTHING;
  } catch {
    // There is none, or the folder is another user's; else it is a link to nowhere.
    return lstat(path).then(
      () => EVERYTHING,
      () => undefined,
    );
  }
  try {
    return parseIgnoreFile(await readFile(path, "utf8"));
  } catch {
    return EVERYTHING;
  }
}

export function parseIgnoreFile(text: string): IgnoredFolders {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length === 0 ? EVERYTHING : lines.map(toNames);
}

function toNames(line: string): readonly string[] {
  const names = line.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0 || (names.length === 1 && names[0] === "*")) return [ANY];
  // As in gitignore: a single name occurs at any depth, unless a slash precedes it.
  const isAnchored = line.startsWith("/") || names.length > 1;
  return [...(isAnchored ? [] : [ANY]), ...names, ANY];
}

/** Whether one of the patterns matches `names`, a path relative to the file's folder. */
export function isIgnoredFolder(ignored: IgnoredFolders, names: readonly string[]): boolean {
  return ignored.some((pattern) =>
    fits(pattern, names, ANY, (wanted, name) =>
      fits([...wanted], [...name], "*", (one, other) => one === other),
    ),
  );
}

/**
 * Whether `items` are those of `pattern`, with any number of them for each `star`. Only the last
 * star is ever tried again, so the time is at most the product of both lengths.
 */
function fits(
  pattern: readonly string[],
  items: readonly string[],
  star: string,
  isSame: (wanted: string, item: string) => boolean,
): boolean {
  let [at, item, lastStar, resumed] = [0, 0, -1, 0];
  while (item < items.length) {
    const wanted = pattern[at];
    if (wanted === star) [lastStar, resumed, at] = [at, item, at + 1];
    else if (wanted !== undefined && isSame(wanted, items[item] as string))
      [at, item] = [at + 1, item + 1];
    else if (lastStar >= 0) [at, item, resumed] = [lastStar + 1, resumed + 1, resumed + 1];
    else return false;
  }
  return pattern.slice(at).every((wanted) => wanted === star);
}
