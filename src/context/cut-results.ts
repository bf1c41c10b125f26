/**
 * Shortens tool results when a conversation does not fit and no message may be dropped.
 *
 * Head and tail stay, because errors are at either end; a note gives the cut amount and where to
 * read it. Only the context changes: the log keeps every result whole.
 */

import type { Block, ToolResultBlock } from "../model/block.ts";
import { endOutsideSecret, startOutsideSecret } from "../secrets/cut-outside-secrets.ts";
import { countBlocks, type TokenCounter } from "./tokens.ts";

/** A result is never cut below this many tokens. */
export const LEAST_RESULT_TOKENS = 200;

/** Tokens of the note. */
const NOTE_TOKENS = 16;

/** A tool result to be shown with at most `keepTokens` tokens. */
export interface ResultCut {
  readonly entryId: string;
  readonly toolUseId: string;
  readonly keepTokens: number;
}

/** The message's blocks with the results in `cuts` shortened; the same array if none is. */
export function cutResults(
  blocks: readonly Block[],
  cuts: ReadonlyMap<string, number>,
  counter: TokenCounter,
): readonly Block[] {
  if (cuts.size === 0) return blocks;
  return blocks.map((block) => {
    const keep = block.type === "tool_result" ? cuts.get(block.toolUseId) : undefined;
    return keep === undefined ? block : shortenResult(block as ToolResultBlock, keep, counter);
  });
}

/** Drops images first, then the middle of the text. Short results stay as they are. */
export function shortenResult(
  block: ToolResultBlock,
  keepTokens: number,
  counter: TokenCounter,
): ToolResultBlock {
  const tokens = counter.countBlock(block);
  if (tokens <= keepTokens) return block;
  const text = typeof block.output === "string" ? block.output : textOfOutput(block.output);
  // Asks the counter instead of computing: it may be any tokenizer.
  let share = Math.max(0, keepTokens - NOTE_TOKENS) / tokens;
  for (let attempt = 0; attempt < 8; attempt++) {
    const kept = Math.max(0, Math.floor((text.length * share) / 2));
    const end = endOutsideSecret(text, kept);
    const start = startOutsideSecret(text, text.length - kept);
    const [head, tail] = [text.slice(0, end), text.slice(start)];
    const note = `[… ${start - end} of ${text.length} characters left out …]`;
    // A cut surrogate pair becomes a replacement character.
    const output = `${head.toWellFormed()}\n${note}\n${tail.toWellFormed()}`;
    const shorter: ToolResultBlock = { ...block, output };
    if (counter.countBlock(shorter) <= keepTokens || kept === 0) return shorter;
    share *= 0.8;
  }
  return { ...block, output: `[${text.length} characters left out]` };
}

/** Shared: most messages have no results. */
const NO_RESULTS: ReadonlyMap<string, number> = new Map();

/** Every tool result of a message and its tokens, by the id of its call. */
export function resultTokens(
  blocks: readonly Block[],
  counter: TokenCounter,
): ReadonlyMap<string, number> {
  if (!blocks.some((block) => block.type === "tool_result")) return NO_RESULTS;
  const tokens = new Map<string, number>();
  for (const block of blocks) {
    if (block.type !== "tool_result") continue;
    tokens.set(block.toolUseId, (tokens.get(block.toolUseId) ?? 0) + counter.countBlock(block));
  }
  return tokens;
}

/** Tokens of a message without its tool results. */
export function otherTokens(blocks: readonly Block[], counter: TokenCounter): number {
  return countBlocks(
    blocks.filter((block) => block.type !== "tool_result"),
    counter,
  );
}

function textOfOutput(output: readonly Block[]): string {
  return output
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "image" ? "[image left out]" : "";
    })
    .filter((text) => text !== "")
    .join("\n");
}
