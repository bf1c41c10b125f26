/** What of an open message waits to be sent, in pieces that the store takes as one. */

import type { Chunk } from "../transcript/chunks.ts";

export type SentChunk = Chunk;

/**
 * The server stores a request's content at once, or in parts of this size: a smaller piece is
 * stored whole or not at all.
 */
const PIECE_CHARACTERS = 64 * 1024;
/** What the server takes a block for. */
const BLOCK_CHARACTERS: number = PIECE_CHARACTERS / 16;

export class WriteBuffer {
  #chunks: Chunk[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** More than one operation of the store should take along. */
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

  /** The next piece, and no more of it than one operation takes. */
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
