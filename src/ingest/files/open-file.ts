/**
 * A transcript on disk, opened once and read in pieces, or at once if it is small.
 *
 * Agents write while we read, delete old files and rewrite compacted ones. So a reading ends at the
 * size that the file had when it was opened; later bytes belong to the next reading. A file that
 * cannot be read to its end is a reported problem, not an exception.
 */

import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { ProblemLog } from "../problems.ts";
import { openRegular, readSmall } from "./file-access.ts";
import { encodingOf, packingOf, toPlain } from "./unpack.ts";
import { type FoundFile, mtimeUsOf } from "./walk.ts";

/** The size of the head for format detection. */
const HEAD_BYTES = 64 * 1024;

const CHUNK_BYTES = 256 * 1024;

/**
 * Bytes hashed before the last offset, to detect a rewritten file: all of them up to this size, which
 * takes 20 ms, and the last 4 KB of a longer file, because a live one is checked each time it grows.
 */
const CHECKED_BYTES = 16 * 1024 * 1024;
const TAIL_BYTES = 4_096;

export interface OpenOptions {
  /** The size when it was found: a small file is read at once. */
  readonly foundSize?: number;
  readonly maxUnpackedBytes?: number;
  /** The name and time of the original, if the opened file is a copy. */
  readonly as?: Pick<FoundFile, "path" | "mtimeUs">;
}

export class TranscriptFile implements AsyncDisposable {
  readonly path: string;
  readonly size: number;
  readonly mtimeUs: number;
  /** Undefined if all of it is read. */
  readonly #handle: FileHandle | undefined;
  readonly #options: OpenOptions;
  #start: Uint8Array = new Uint8Array();

  private constructor(
    path: string,
    handle: FileHandle | undefined,
    facts: Stats,
    options: OpenOptions,
  ) {
    this.path = options.as?.path ?? path;
    this.size = facts.size;
    this.mtimeUs = options.as?.mtimeUs ?? mtimeUsOf(facts);
    this.#handle = handle;
    this.#options = options;
  }

  /** Throws the file system's errors. */
  static async open(path: string, options: OpenOptions = {}): Promise<TranscriptFile> {
    const isSmall = options.foundSize !== undefined && options.foundSize <= HEAD_BYTES;
    const whole = isSmall ? readSmall(path, HEAD_BYTES) : undefined;
    if (whole !== undefined) {
      const file = new TranscriptFile(path, undefined, whole.facts, options);
      file.#start = whole.bytes;
      return file;
    }
    const { handle, facts } = await openRegular(path);
    try {
      const file = new TranscriptFile(path, handle, facts, options);
      file.#start = await file.#readAt(0, Math.min(HEAD_BYTES, file.size));
      return file;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Whether offsets in the file are offsets in `read`: only then can a reading be resumed. */
  get isPlain(): boolean {
    return packingOf(this.#start) === undefined && encodingOf(this.#start) === undefined;
  }

  /** The head of `read`'s output. */
  async head(problems: ProblemLog): Promise<Uint8Array> {
    if (this.isPlain) return this.#start;
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.read(problems)) {
      parts.push(Uint8Array.from(chunk));
      length += chunk.length;
      if (length >= HEAD_BYTES) break;
    }
    return Buffer.concat(parts).subarray(0, HEAD_BYTES);
  }

  /** UTF-8, as far as the file is valid. A chunk is valid until the next is requested. */
  async *read(problems: ProblemLog, offset = 0): AsyncGenerator<Uint8Array> {
    const raw = this.#readRaw(problems, offset);
    // The rest of a plain file is plain, whatever its first bytes.
    yield* offset > 0 ? raw : toPlain(raw, problems, this.#options.maxUnpackedBytes);
  }

  /** As `read`, restartable. Damage of the bytes is reported once. */
  repeatable(problems: ProblemLog, offset = 0): AsyncIterable<Uint8Array> {
    const read = (log: ProblemLog) => this.read(log, offset);
    let isTold = false;
    return {
      async *[Symbol.asyncIterator]() {
        const own = new ProblemLog();
        try {
          yield* read(own);
        } finally {
          if (!isTold) problems.take(own);
          isTold ||= own.total > 0;
        }
      },
    };
  }

  /** SHA-256 of the bytes before `offset`, or of their last 4 KB. Undefined if the file ends before. */
  async tailHash(offset: number): Promise<Uint8Array | undefined> {
    const hash = createHash("sha256");
    for (let at = offset <= CHECKED_BYTES ? 0 : offset - TAIL_BYTES; at < offset; ) {
      const part = await this.#readAt(at, Math.min(CHUNK_BYTES, offset - at));
      if (part.length === 0) return undefined;
      hash.update(part);
      at += part.length;
    }
    return hash.digest();
  }

  /** Bytes of the file itself, compressed or not; fewer if it has become shorter. */
  readRange(start: number, length: number): Promise<Uint8Array> {
    return this.#readAt(start, length);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#readRaw(problems: ProblemLog, offset: number): AsyncGenerator<Uint8Array> {
    // Most files are small enough to be read when they are opened.
    const handle = this.#handle;
    if (handle === undefined || this.#start.length === this.size) {
      if (offset < this.size) yield this.#start.subarray(offset);
      return;
    }
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, this.size - offset)));
    for (let at = offset; at < this.size; ) {
      const wanted = Math.min(buffer.length, this.size - at);
      let length = 0;
      try {
        length = (await handle.read(buffer, 0, wanted, at)).bytesRead;
      } catch (error) {
        problems.add("unreadable", `the file cannot be read: ${(error as Error).message}`);
        return;
      }
      if (length === 0) {
        problems.add("unreadable", "the file became shorter while it was read");
        return;
      }
      yield buffer.subarray(0, length);
      at += length;
    }
  }

  async #readAt(offset: number, length: number): Promise<Uint8Array> {
    const handle = this.#handle;
    if (handle === undefined || (length > 0 && offset + length <= this.#start.length)) {
      return this.#start.subarray(offset, offset + length);
    }
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }
}

/** Holes cost nothing to create: a file of terabytes with kilobytes allocated is a trap. */
export function isSparse({ size, allocated }: FoundFile): boolean {
  return size - allocated > 64 * 1024 * 1024 && allocated < size / 100;
}
