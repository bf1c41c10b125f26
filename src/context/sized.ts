/** Messages of a context with what they take, so that nothing is counted twice. */

import type { Entry } from "../model/entry.ts";
import type { ContextMessage, ContextPart } from "./message.ts";
import { quoteBranchSummary } from "./quote.ts";
import { countBlocks, type TokenCounter } from "./tokens.ts";

export interface Sized {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** An entry as the model sees it. What is not said by anybody is given in the user's role. */
export function fromEntry(entry: Entry, part: ContextPart, counter: TokenCounter): Sized {
  const blocks =
    entry.kind === "branch_summary"
      ? entry.blocks.map((block) =>
          block.type === "text" ? { ...block, text: quoteBranchSummary(block.text) } : block,
        )
      : entry.blocks;
  const { id, actor, model } = entry;
  const message = { role: entry.role ?? "user", actor, blocks, part, entryIds: [id], model };
  return { message, tokens: countBlocks(blocks, counter) };
}

/** A message of the host's, made from `ids`. */
export function fromText(
  text: string,
  part: ContextPart,
  ids: readonly string[],
  counter: TokenCounter,
  role: "user" | "system" = "user",
): Sized {
  const blocks = [{ type: "text", text }] as const;
  const message = { role, actor: null, blocks, part, entryIds: ids, model: null };
  return { message, tokens: countBlocks(blocks, counter) };
}

export function sumTokens(items: readonly Sized[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}
