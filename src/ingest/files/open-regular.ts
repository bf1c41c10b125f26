/**
 * Opens a regular file.
 *
 * Opening a named pipe blocks until it has a writer. So open without blocking and check the type: a
 * device or pipe may be endless.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

export interface OpenedFile {
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

export interface ReadFile {
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
