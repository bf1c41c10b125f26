import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { quoteConversation } from "../../context/quote.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { formatCount } from "../../model/display.ts";
import { KEEP_WORDS, SUMMARY_STRATEGIES } from "../../model/inputs/choices.ts";
import { DEFAULT_MCP_READ_TOKENS } from "../../model/limits.ts";
import { ABOUT, EXAMPLE_ID, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

export const compactConversation: Tool = defineTool({
  name: "compact_conversation",
  title: "Compact a conversation",
  description:
    "Summarise the older part of a conversation that your host keeps here, so that its context gets smaller. Nothing is removed, unless the session's retention says so. Not for an overview (recap), which changes nothing.",
  scope: "write",
  // The session's retention may erase covered messages.
  destructive: true,
  input: z.object({
    session_id: SESSION_ID,
    keep: z
      .union([
        z.enum(KEEP_WORDS),
        z.strictObject({ messages: z.number().int().min(0) }),
        z.strictObject({ tokens: z.number().int().min(0) }),
      ])
      .optional()
      .describe(
        `The part that stays verbatim: the newer half, none, a number of the newest messages, or the newest messages up to a number of tokens; ${formatCount(COMPACTION.keepTokens)} tokens if left out.`,
      ),
    strategy: z
      .enum(SUMMARY_STRATEGIES)
      .optional()
      .describe("One summary, rewritten each time, or summaries of summaries."),
  }),
  example: { session_id: EXAMPLE_ID, keep: { messages: 20 } },
  output: z.object({
    about: ABOUT,
    entry_id: z.string().nullable(),
    summary: z.string(),
    removed: z.number().int().describe("Entries that the summary covers."),
    first_kept_entry_id: z.string().nullable(),
    tokens_before: z.number(),
    tokens_after: z.number(),
    erased: z.number().int().describe("Entries whose content was erased by the retention."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_READ_TOKENS,
  run: async ({ tenant }, { session_id, keep, strategy }) => {
    const result = await tenant.compactConversation(session_id, {
      ...(keep === undefined ? {} : { keep }),
      ...(strategy === undefined ? {} : { strategy }),
    });
    return {
      about: ABOUT_RECALLED,
      entry_id: result.entry?.id ?? null,
      summary: maskText(result.summary ?? ""),
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
