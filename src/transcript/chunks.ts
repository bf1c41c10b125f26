/**
 * Chunks of a message that is still being written.
 *
 * Each flush stores one chunk; the message is folded from them once, at the commit. (Rewriting the
 * whole text at each flush would cost the square of its length.)
 */

import type { Block } from "../model/block.ts";

/** A piece of text, or a block that is complete in itself, such as a tool call. */
export type Chunk = string | Block;

/** Neighbouring pieces of text become one text block. Half a surrogate pair meets its other half. */
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
