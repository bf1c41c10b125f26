/** The length of a message, computed alike for sent and stored content. */

import type { Block } from "../model/block.ts";
import type { Chunk } from "../transcript/chunks.ts";

/** Neighbouring texts may have been joined; their total length stays. */
export interface Size {
  readonly characters: number;
  readonly blocks: number;
}

export const NO_SIZE: Size = { characters: 0, blocks: 0 };

export function sizeOfBlocks(blocks: readonly Block[]): Size {
  return blocks.reduce(
    (sum, block) =>
      addSize(
        sum,
        block.type === "text"
          ? { characters: block.text.length, blocks: 0 }
          : { characters: 0, blocks: 1 },
      ),
    NO_SIZE,
  );
}

export function sizeOfChunks(chunks: readonly Chunk[]): Size {
  return sizeOfBlocks(
    chunks.map((chunk) => (typeof chunk === "string" ? { type: "text", text: chunk } : chunk)),
  );
}

export function addSize(a: Size, b: Size): Size {
  return { characters: a.characters + b.characters, blocks: a.blocks + b.blocks };
}

export function isSameSize(a: Size, b: Size): boolean {
  return a.characters === b.characters && a.blocks === b.blocks;
}
