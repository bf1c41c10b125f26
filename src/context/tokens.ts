/**
 * The token counter port, and an estimate without a tokenizer.
 *
 * The estimate is a quarter of the UTF-8 bytes plus one for each block, so that every block counts.
 * Ids, roles and the host's own system prompt are not part of it.
 */

import { type Block, inputTextOf } from "../model/block.ts";

/** Counts tokens. Synchronous and cheap: it is called for every block of a context. */
export interface TokenCounter {
  /** Names the way of counting, such as `estimate`. */
  readonly name: string;
  countText(text: string): number;
  countBlock(block: Block): number;
}

/** The size assumed for any image: providers count pixels, which are unknown here. */
export const IMAGE_TOKENS = 1_200;

/** Bytes / 4 + 1 per block. */
export const TOKEN_ESTIMATE: TokenCounter = {
  name: "estimate",
  countText: (text) => quarter(Buffer.byteLength(text)) + 1,
  countBlock: estimateBlock,
};

export function countBlocks(blocks: readonly Block[], counter: TokenCounter): number {
  let tokens = 0;
  for (const block of blocks) tokens += counter.countBlock(block);
  return tokens;
}

function estimateBlock(block: Block): number {
  switch (block.type) {
    case "text":
      return quarter(Buffer.byteLength(block.text)) + 1;
    case "thinking":
      return quarter(Buffer.byteLength(block.text) + Buffer.byteLength(block.signature ?? "")) + 1;
    case "tool_use":
      return quarter(Buffer.byteLength(block.name) + Buffer.byteLength(inputTextOf(block))) + 1;
    case "tool_result": {
      const name = Buffer.byteLength(block.toolName ?? "");
      if (typeof block.output === "string") {
        return quarter(name + Buffer.byteLength(block.output)) + 1;
      }
      return quarter(name) + 1 + countBlocks(block.output, TOKEN_ESTIMATE);
    }
    case "image":
      return IMAGE_TOKENS;
    case "opaque":
      return quarter(Buffer.byteLength(block.json)) + 1;
  }
}

function quarter(bytes: number): number {
  return Math.floor(bytes / 4);
}
