/** The unsent part of an open message, in chunks that the store takes atomically. */

import type { Chunk } from "../transcript/chunks.ts";

export type SentChunk = Chunk;

/**
 * The server stores a request's content at once, or in parts of this size: a smaller chunk is
 * atomic.
 */
const PIECE_CHARACTERS = 64 * 1024;
/** The size that the server assumes for a block. */
const BLOCK_CHARACTERS: number = PIECE_CHARACTERS / 16;

export class WriteBuffer {
  #chunks: Chunk[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** More than one store operation should carry. */
  get isFull(): boolean {
    return this.#length >= PIECE_CHARACTERS;
  }

  add(chunk: Chunk): void {
    if (chunk === "") return;
    this.#length += lengthOf(chunk);
    const last = this.#chunks.at(-1);
    if (typeof chunk === "string" && typeof last === "string") {
      this.#chunks[this.#chunks.length - 1] = last + chunk;
    } else this.#chunks.push(chunk);
  }

  /** The next chunk, up to one operation's size. */
  take(): readonly Chunk[] {
    let length = 0;
    let count = 0;
    while (count < this.#chunks.length && length < PIECE_CHARACTERS) {
      length += lengthOf(this.#chunks[count] as Chunk);
      count++;
    }
    this.#length -= length;
    return this.#chunks.splice(0, count);
  }

  putBack(chunks: readonly Chunk[]): void {
    this.#chunks.unshift(...chunks);
    for (const chunk of chunks) this.#length += lengthOf(chunk);
  }
}

function lengthOf(chunk: Chunk): number {
  return typeof chunk === "string" ? chunk.length : BLOCK_CHARACTERS;
}
