import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { quoteConversation } from "../../context/quote.ts";
import type { KeepInput } from "../../engine/context/compact-options.ts";
import { textOf } from "../../model/block.ts";
import { BackscrollError } from "../../model/errors.ts";
import { ABOUT, EXAMPLE_ID, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

export const compactConversation: Tool = defineTool({
  name: "compact_conversation",
  title: "Compact a conversation",
  description:
    "Summarise the older part of a conversation into an entry that stands for it. Nothing is removed, unless the session's retention says that what was summarised is to be forgotten.",
  scope: "write",
  // The retention of a session may be one that forgets.
  destructive: true,
  input: z.object({
    session_id: SESSION_ID,
    keep_messages: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe("The newest messages that stay as they were said."),
    keep_tokens: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe("As many of the newest messages as take so many tokens; 20,000 if left out."),
    strategy: z
      .enum(["rolling", "hierarchical"])
      .optional()
      .describe("One summary written anew, or summaries of summaries."),
  }),
  example: { session_id: EXAMPLE_ID, keep_messages: 20 },
  output: z.object({
    about: ABOUT,
    entry_id: z.string().nullable(),
    summary: z.string(),
    removed: z.number().int().describe("Entries that the summary stands for."),
    first_kept_entry_id: z.string().nullable(),
    tokens_before: z.number(),
    tokens_after: z.number(),
    erased: z.number().int().describe("Entries whose content was erased, as the retention says."),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant }, { session_id, strategy, ...input }) => {
    const keep = toKeep(input.keep_messages, input.keep_tokens);
    const result = await tenant.compactConversation(session_id, {
      ...(keep === undefined ? {} : { keep }),
      ...(strategy === undefined ? {} : { strategy }),
    });
    return {
      about: ABOUT_RECALLED,
      entry_id: result.entry?.id ?? null,
      summary: result.entry === null ? "" : maskText(textOf(result.entry.blocks)),
      removed: result.removed,
      first_kept_entry_id: result.firstKeptEntryId,
      tokens_before: result.tokensBefore,
      tokens_after: result.tokensAfter,
      erased: result.erased,
      truncated: null,
    };
  },
  toText: ({ about, removed, tokens_before, tokens_after, summary }) =>
    `${removed} entries were summarised: ${tokens_before} tokens before, ${tokens_after} after.\n${quoteConversation(about, summary)}`,
});

function toKeep(messages: number | undefined, tokens: number | undefined): KeepInput | undefined {
  if (messages !== undefined && tokens !== undefined) {
    throw new BackscrollError("invalid_input", "keep_messages and keep_tokens exclude each other", {
      details: { field: "keep_messages" },
    });
  }
  if (messages !== undefined) return { messages };
  return tokens === undefined ? undefined : { tokens };
}
