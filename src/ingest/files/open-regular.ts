/**
 * Opening what should be a file.
 *
 * Whoever opens a named pipe waits for its writer, and there may never be one. So nothing waits, and
 * what was opened is looked at: a device or a pipe could be without end.
 */

import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly facts: Stats;
}

/** Throws what the file system says, or that it is no file. */
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

// Windows has neither, and no pipes among its files.
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const NO_LINKS = constants.O_NOFOLLOW ?? 0;
