/** The target of a large output: a new file that appears when complete, or standard output. */

import { existsSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { BackscrollError } from "../../model/errors.ts";
import { usageError } from "../command.ts";
import type { Terminal } from "../terminal.ts";

export interface Output {
  /** Absent for standard output. */
  readonly file?: string;
  write(text: string | Uint8Array): Promise<void>;
  /** Renames the file to its final name. */
  finish(): Promise<void>;
  /** Removes an unfinished output. */
  discard(): Promise<void>;
}

export async function openOutput(path: string | undefined, terminal: Terminal): Promise<Output> {
  if (path === undefined || path === "-") {
    const nothing = () => Promise.resolve();
    return { write: (text) => terminal.write(text), finish: nothing, discard: nothing };
  }
  const file = resolve(path);
  if (existsSync(file)) throw usageError(`${file} exists already; name a new file`, "FILE");
  const partial = `${file}.partial`;
  const handle = await create(partial, file);
  return {
    file,
    write: (text) => handle.appendFile(text),
    finish: async () => {
      await handle.sync();
      await handle.close();
      await rename(partial, file);
    },
    discard: async () => {
      await handle.close();
      await rm(partial, { force: true });
    },
  };
}

/** Readable by its owner only: it holds conversations. */
async function create(partial: string, file: string): Promise<FileHandle> {
  try {
    return await open(partial, "w", 0o600);
  } catch (cause) {
    throw new BackscrollError(
      "invalid_input",
      `${file} cannot be written: ${(cause as Error).message}`,
      { details: { field: "FILE" }, cause },
    );
  }
}
