/**
 * A temporary copy of a whole store, for the time of a download; and the deletion of copies that a
 * killed server left behind, each as large as its store.
 *
 * One handle serves for hashing and sending; the first call of `end` closes it and removes the
 * folder, at any stage.
 */

import { createHash } from "node:crypto";
import {
  type FileHandle,
  lstat,
  mkdtemp,
  open,
  readdir,
  rm,
  rmdir,
  unlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CopyStore } from "./app-options.ts";

/** Prefix of the copies' folders in the temporary folder, unlikely for other programs. */
export const COPY_PREFIX = "backscroll-served-copy-";
/** Name of the copy in its folder. */
const COPY_FILE = "store.db";

const PIECE_BYTES = 256 * 1024;

interface CopyFigures {
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256, in base64. */
  readonly digest: string;
}

export class StoreCopy {
  readonly #onEnd: () => void;
  #folder: string | undefined;
  #handle: FileHandle | undefined;
  #bytes = 0;
  #ended: Promise<void> | undefined;

  /** `onEnd` is called once, after the copy is removed. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** May be called once. `end` must be called in any case. */
  async make(copyStore: CopyStore, signal: AbortSignal): Promise<CopyFigures> {
    signal.throwIfAborted();
    this.#folder = await mkdtemp(join(tmpdir(), COPY_PREFIX));
    const file = join(this.#folder, COPY_FILE);
    const { rows } = await copyStore(file, signal);
    signal.throwIfAborted();
    this.#handle = await open(file, "r");
    this.#bytes = (await this.#handle.stat()).size;
    const hash = createHash("sha256");
    for (let at = 0; at < this.#bytes; ) {
      signal.throwIfAborted();
      const piece = await this.#read(at);
      hash.update(piece);
      at += piece.length;
    }
    return { rows, bytes: this.#bytes, digest: hash.digest("base64") };
  }

  /**
   * Reads with back-pressure. The copy is removed before its last chunk is returned, so that the
   * next one may start. `onAsked` is called for each read.
   */
  toStream(onAsked: () => void): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          onAsked();
          try {
            const piece = await this.#read(at);
            at += piece.length;
            const isLast = at >= this.#bytes;
            if (isLast) await this.end();
            controller.enqueue(piece);
            if (isLast) controller.close();
          } catch (error) {
            await this.end();
            throw error;
          }
        },
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    );
  }

  end(): Promise<void> {
    this.#ended ??= this.#remove();
    return this.#ended;
  }

  async #read(at: number): Promise<Uint8Array> {
    const { bytesRead = 0, buffer } =
      (await this.#handle?.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, at)) ?? {};
    if (buffer === undefined || bytesRead === 0) throw new Error("the copy is shorter than it was");
    return buffer.subarray(0, bytesRead);
  }

  /** Never rejects. A copy that cannot be removed now is removed at the next server start. */
  async #remove(): Promise<void> {
    // Waits for a read in progress.
    await this.#handle?.close().catch(() => undefined);
    if (this.#folder !== undefined) {
      await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined);
    }
    this.#onEnd();
  }
}

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
