/** The tools that work on one conversation: append a message, build a context, compact. */

import { z } from "zod";
import { toWireContext } from "../../api/context.ts";
import { maskText } from "../../api/mask.ts";
import { fromWireMessage } from "../../api/message-input.ts";
import { shapeSchema } from "../../api/shape-schema.ts";
import { ABOUT_RECALLED } from "../../api/text/session-heading.ts";
import { quoteConversation } from "../../context/quote.ts";
import { actorFor } from "../../model/access.ts";
import { OMISSION } from "../../model/answers/context.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { defined } from "../../model/defined.ts";
import { formatCount } from "../../model/display.ts";
import { ROLES } from "../../model/entry.ts";
import { KEEP_WORDS, SUMMARY_STRATEGIES } from "../../model/inputs/choices.ts";
import {
  DEFAULT_CONTEXT_BUDGET,
  DEFAULT_MCP_READ_TOKENS,
  MAX_BLOCKS,
  MAX_CONTENT_BYTES,
  MAX_MCP_ANSWER_BYTES,
  MAX_MCP_CONTEXT_TOKENS,
  MIN_CONTEXT_BUDGET,
} from "../../model/limits.ts";
import { BLOCK_VIEW, showBlocks, toBlockViews } from "../views/message.ts";
import { ABOUT, EXAMPLE_ID, id, name, QUERY, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const TOKENS = z.number().int().min(0).optional();

export const appendMessage: Tool = defineTool({
  name: "append_message",
  title: "Append a message",
  description:
    "Append a message to a conversation that your host keeps here. It is stored for good; nothing is overwritten. Not for notes (remember), nor for what a coding agent writes down itself: that is read from its transcripts.",
  scope: "write",
  input: z.object({
    session_id: SESSION_ID,
    role: z.enum(ROLES),
    content: z.string().max(MAX_CONTENT_BYTES).optional().describe("The text."),
    actor: name("The author; you if left out.").optional(),
    tool_calls: z
      .array(z.object({ id: name("Of the call."), name: name("Of the tool."), input: z.json() }))
      .max(MAX_BLOCKS)
      .optional(),
    tool_results: z
      .array(
        z.object({
          id: name("Of the call."),
          name: name("Of the tool.").optional(),
          output: z.string().max(MAX_CONTENT_BYTES),
          is_error: z.boolean().optional(),
        }),
      )
      .max(MAX_BLOCKS)
      .optional(),
    model: name("The model that wrote it.").optional(),
    usage: z
      .object({
        input_tokens: TOKENS,
        output_tokens: TOKENS,
        cache_creation_tokens: TOKENS,
        cache_read_tokens: TOKENS,
      })
      .optional(),
    idempotency_key: name("The same call under the same key is carried out once.").optional(),
    expected_leaf: id("Fails with stale_leaf unless this entry is the newest.").optional(),
  }),
  example: { session_id: EXAMPLE_ID, role: "user", content: "The cron lock is gone." },
  output: z.object({
    session_id: z.string(),
    entry_id: z.string(),
    msg_idx: z.number().int().nullable(),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant, access, call }, input) => {
    const { session_id, idempotency_key = call, expected_leaf, actor: named, ...message } = input;
    const actor = actorFor(access, named);
    const session = await tenant.getSession(session_id);
    const entries = await session.append(
      [fromWireMessage(defined({ ...message, actor }))],
      defined({ idempotencyKey: idempotency_key, expectedLeaf: expected_leaf }),
    );
    const [entry] = entries;
    return {
      session_id,
      entry_id: entry?.id ?? "",
      msg_idx: entry?.index ?? null,
      truncated: null,
    };
  },
});

export const buildContext: Tool = defineTool({
  name: "build_context",
  title: "Build a context",
  description:
    "The context for continuing a conversation, under a token budget: pinned messages, the summary, what bears on the newest question, and the newest turns. Use it to take over a conversation. Not to read what was said in order (list_messages), nor for an overview (recap).",
  scope: "read",
  input: z.object({
    session_id: SESSION_ID,
    token_budget: z
      .number()
      .int()
      .min(MIN_CONTEXT_BUDGET)
      .max(MAX_MCP_CONTEXT_TOKENS)
      .default(DEFAULT_CONTEXT_BUDGET)
      .describe(`Tokens of all messages; ${DEFAULT_CONTEXT_BUDGET} if left out.`),
    recent_turns: z.number().int().min(1).max(1_000).optional().describe("The limit of turns."),
    include_facts: z.boolean().optional().describe("Adds the session's facts."),
    rules: z.boolean().optional().describe("Adds standing rules."),
    query: QUERY.describe("The question, in place of the newest user message.").optional(),
  }),
  example: { session_id: EXAMPLE_ID, token_budget: 4_000 },
  output: z.object({
    about: ABOUT,
    session_id: z.string(),
    messages: z.array(
      z.object({
        role: z.string(),
        actor: z.string().nullable(),
        part: z.string(),
        blocks: z.array(BLOCK_VIEW),
        entry_ids: z.array(z.string()),
      }),
    ),
    omitted: z.array(shapeSchema(OMISSION)),
    tokens: z.number(),
    shortened: z
      .number()
      .int()
      .describe("Blocks that were cut; a note in each says how to read on."),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant }, input) => {
    const { session_id, recent_turns, include_facts, rules, query } = input;
    const session = await tenant.getSession(session_id);
    const context = await session.buildContext({
      tokenBudget: input.token_budget,
      ...defined({ recentTurns: recent_turns, includeFacts: include_facts, rules, query }),
    });
    const { omitted, tokens, shortened, messages } = toWireContext(context);
    return {
      about: ABOUT_RECALLED,
      session_id,
      messages: messages.map(({ role, actor, part, entry_ids }, i) => ({
        role,
        actor,
        part,
        blocks: [...toBlockViews(context.messages[i]?.blocks ?? [], MAX_MCP_ANSWER_BYTES).blocks],
        entry_ids: [...entry_ids],
      })),
      omitted: [...omitted],
      tokens,
      shortened,
      truncated: null,
    };
  },
  toText: ({ about, messages, omitted, tokens, truncated }) => {
    const shown = messages.map(({ role, actor, part, blocks }) => {
      const who = actor === null ? role : `${role} ${actor}`;
      return `[${part}] ${who}\n${showBlocks(blocks)}`;
    });
    const counts = new Map<string, number>();
    for (const { part, count, reason } of omitted) {
      const what = `${part} (${reason})`;
      counts.set(what, (counts.get(what) ?? 0) + count);
    }
    const left = [...counts].map(([what, count]) => `${count} of ${what}`);
    const summary = [
      `${messages.length} messages, about ${tokens} tokens.`,
      ...(left.length === 0 ? [] : [`Left out: ${left.join(", ")}.`]),
      ...(truncated === null ? [] : [truncated]),
    ].join(" ");
    if (messages.length === 0) return summary;
    return `${quoteConversation(about, shown.join("\n\n"))}\n${summary}`;
  },
});

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
        `The part that stays verbatim: the newer half, none, or the newest messages by number or by tokens; ${formatCount(COMPACTION.keepTokens)} tokens if left out.`,
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
    const result = await tenant.compactConversation(session_id, defined({ keep, strategy }));
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
