/**
 * Chunks of an open message, as an append-only log.
 *
 * Each flush stores one chunk; the commit folds them once. (Rewriting the whole text at each flush
 * would be quadratic.)
 */

import type { Block } from "../model/block.ts";

/** Text, or a complete block, such as a tool call. */
export type Chunk = string | Block;

/** Joins neighbouring texts into one block, rejoining split surrogate pairs. */
export function foldChunks(chunks: readonly Chunk[]): Block[] {
  const blocks: Block[] = [];
  let text = "";
  const endText = () => {
    if (text !== "") blocks.push({ type: "text", text });
    text = "";
  };
  for (const chunk of chunks) {
    if (typeof chunk === "string") {
      text += chunk;
    } else {
      endText();
      blocks.push(chunk);
    }
  }
  endText();
  return blocks;
}
