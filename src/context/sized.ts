/** Messages of a context with their token counts, so that each is counted once. */

import type { Entry } from "../model/entry.ts";
import type { ContextMessage, ContextPart } from "./message.ts";
import { quoteBranchSummary } from "./quote.ts";
import { type SentSizer, sentTokens } from "./sent-tokens.ts";
import { countBlocks, type TokenCounter } from "./tokens.ts";

export interface Sized {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** With its upper bound after rendering. */
export interface SentSized extends Sized {
  readonly sent: number;
}

/** An entry as a message for the model. Entries without a role get the user's. */
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

/** A message of the host's text, from `ids`. */
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

export function withSent({ message, tokens }: Sized, sizer: SentSizer): SentSized {
  return { message, tokens, sent: sentTokens(message, sizer) };
}

export function sumTokens(items: readonly Sized[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

export function sumSent(items: readonly SentSized[]): number {
  return items.reduce((sum, { sent }) => sum + sent, 0);
}
