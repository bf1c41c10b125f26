/**
 * Companion files of a transcript, for its reader.
 *
 * A transcript may name any path. Access is confined to the root that the transcript was found in,
 * also after following links; other files count as missing.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { Slots } from "../batches.ts";
import { CUT_LINE_BYTES, type Line } from "../lines.ts";
import { CutLine } from "../long/long-line.ts";
import type { FileAccess } from "../source.ts";
import { type FoundFile, mtimeUsOf } from "./walk.ts";

/** A transcript's folder has few files; an endless listing would be an attack. */
const MAX_NAMES = 10_000;

/** A record fits its writer's memory; a larger one is a trap. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
const PIECE_BYTES = 128 * 1024;

/**
 * `root` is the place's folder, or the transcript itself if it stands alone. `held` is shared by
 * transcripts read concurrently.
 */
export function accessAround(
  transcript: string,
  root: string,
  held: Slots = new Slots(1),
): FileAccess {
  const find = (path: string) => resolveBeside({ path: transcript, root }, path);
  const read = async (path: string, maxBytes: number) => {
    const found = await find(path);
    return found === undefined ? undefined : readRegular(found, maxBytes);
  };
  return {
    readText: async (path, maxBytes) => (await read(path, maxBytes))?.toString("utf8"),
    async readRecord(path) {
      const found = await find(path);
      return found === undefined ? undefined : cutRegular(found);
    },
    readBytes: read,
    hold: () => held.enter(),
    async list(path) {
      const found = await find(path);
      return found === undefined ? [] : namesIn(found);
    },
    async modifiedAt(path) {
      const found = await find(path);
      const facts = found === undefined ? undefined : await factsOf(found);
      return facts === undefined ? undefined : Math.floor(facts.mtimeUs / 1000);
    },
  };
}

/** Files that are stat'ed concurrently. */
const AT_ONCE = 64;

/**
 * The sizes of the files in a folder beside a transcript, and their newest mtime. Each file adds
 * one, so that the sum reflects their number.
 */
export async function sumFolder(
  transcript: Pick<FoundFile, "path" | "root">,
  folder: string,
  matches: (name: string) => boolean = () => true,
): Promise<Pick<FoundFile, "size" | "mtimeUs">> {
  const found = await resolveBeside(transcript, folder);
  const names = found === undefined ? [] : (await namesIn(found)).filter(matches);
  let [size, mtimeUs] = [0, 0];
  for (let i = 0; i < names.length; i += AT_ONCE) {
    const some = names.slice(i, i + AT_ONCE).map((name) => factsOf(join(found ?? "", name)));
    for (const facts of await Promise.all(some)) {
      size += facts === undefined ? 0 : facts.size + 1;
      mtimeUs = Math.max(mtimeUs, facts?.mtimeUs ?? 0);
    }
  }
  return { size, mtimeUs };
}

/** Undefined if it is not a regular file. */
async function factsOf(path: string): Promise<Pick<FoundFile, "size" | "mtimeUs"> | undefined> {
  try {
    const facts = await lstat(path);
    return facts.isFile() ? { size: facts.size, mtimeUs: mtimeUsOf(facts) } : undefined;
  } catch {
    // Deleted meanwhile.
    return undefined;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort().slice(0, MAX_NAMES);
  } catch {
    // Missing or unreadable folder.
    return [];
  }
}

async function resolveBeside(
  { path: transcript, root: place }: Pick<FoundFile, "path" | "root">,
  path: string,
): Promise<string | undefined> {
  if (isAbsolute(path) || path.includes("\0")) return undefined;
  const folder = dirname(transcript);
  try {
    const [real, root] = await Promise.all([
      realpath(join(folder, path)),
      realpath(place === transcript ? folder : place),
    ]);
    return isInside(real, root) ? real : undefined;
  } catch {
    // Missing.
    return undefined;
  }
}

export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

function readRegular(path: string, maxBytes: number): Promise<Buffer | undefined> {
  return withRegular(path, async ({ handle, facts }) =>
    facts.size > maxBytes ? undefined : handle.readFile(),
  );
}

/** A long one is read in chunks, so that cut parts are not held in memory. */
function cutRegular(path: string): Promise<Pick<Line, "text" | "isCut"> | undefined> {
  return withRegular(path, async ({ handle, facts }) => {
    if (facts.size > MAX_RECORD_BYTES) return undefined;
    if (facts.size <= CUT_LINE_BYTES) return { text: await handle.readFile("utf8") };
    const line = new CutLine();
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(piece, 0, piece.length);
      if (bytesRead === 0) break;
      line.add(piece.subarray(0, bytesRead));
    }
    const { text, damage } = line.end();
    return damage === "too_long" ? undefined : { text, isCut: line.isCut };
  });
}

async function withRegular<Result>(
  path: string,
  read: (opened: OpenedFile) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    // Links were resolved before: a link here was created since.
    const opened = await openRegular(path, { followLinks: false });
    try {
      return await read(opened);
    } finally {
      await opened.handle.close();
    }
  } catch {
    return undefined;
  }
}

/**
 * Opens a regular file.
 *
 * Opening a named pipe blocks until it has a writer. So open without blocking and check the type: a
 * device or pipe may be endless.
 */
interface OpenedFile {
  readonly handle: FileHandle;
  readonly facts: Stats;
}

/** Throws the file system's errors, or that it is not a regular file. */
export async function openRegular(
  path: string,
  { followLinks = true }: { readonly followLinks?: boolean } = {},
): Promise<OpenedFile> {
  const handle = await open(path, READING | (followLinks ? 0 : NO_LINKS));
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw new Error(`${path} is no file`);
    return { handle, facts };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface ReadFile {
  readonly bytes: Uint8Array;
  readonly facts: Stats;
}

/**
 * Reads a file of at most `maxBytes` synchronously: four short calls through the thread pool take
 * longer than the calls. Undefined if it is larger, shrinks meanwhile, or the disk was slow: then
 * the thread pool should wait for it.
 */
export function readSmall(path: string, maxBytes: number): ReadFile | undefined {
  const started = performance.now();
  if (started < slowUntil) return undefined;
  try {
    return readAtOnce(path, maxBytes);
  } finally {
    const now = performance.now();
    usualMs += (Math.min(now - started, 5 * SLOW_MS) - usualMs) / 10;
    if (usualMs > SLOW_MS) {
      slowUntil = now + BACKGROUND_MS;
      usualMs = 0;
    }
  }
}

/** A single slow call may be an interruption; several in a row are the disk. */
const SLOW_MS = 2;
const BACKGROUND_MS = 1_000;
let usualMs = 0;
let slowUntil = 0;

function readAtOnce(path: string, maxBytes: number): ReadFile | undefined {
  const file = openSync(path, READING);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw new Error(`${path} is no file`);
    if (facts.size > maxBytes) return undefined;
    const bytes = new Uint8Array(facts.size);
    let filled = 0;
    while (filled < bytes.length) {
      const length = readSync(file, bytes, filled, bytes.length - filled, filled);
      if (length === 0) return undefined;
      filled += length;
    }
    return { bytes, facts };
  } finally {
    closeSync(file);
  }
}

// Windows has neither flag, and no named pipes in folders.
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const NO_LINKS = constants.O_NOFOLLOW ?? 0;
