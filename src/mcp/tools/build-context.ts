import { z } from "zod";
import { toWireContext, type WireContext } from "../../api/context.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { quoteConversation } from "../../context/quote.ts";
import { CONTEXT_PARTS } from "../../model/inputs/choices.ts";
import {
  DEFAULT_CONTEXT_BUDGET,
  MAX_MCP_ANSWER_BYTES,
  MAX_MCP_CONTEXT_TOKENS,
  MIN_CONTEXT_BUDGET,
} from "../../model/limits.ts";
import { BLOCK_VIEW, showBlocks, toBlockViews } from "../views/message-view.ts";
import { ABOUT, EXAMPLE_ID, QUERY, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const OMISSION: z.ZodType<WireContext["omitted"][number]> = z.object({
  part: z.enum(CONTEXT_PARTS),
  reason: z.enum(["budget", "recent_turns"]),
  count: z.number().int(),
  tokens: z.number().nullable(),
  ids: z.array(z.string()),
});

export const buildContext: Tool = defineTool({
  name: "build_context",
  title: "Build a context",
  description:
    "The context for continuing a conversation, under a token budget: pinned messages, the summary, messages that bear on the newest question, and the newest turns. Use it to take over a conversation. Not to read what was said in order (list_messages), nor for an overview (recap).",
  scope: "read",
  input: z.object({
    session_id: SESSION_ID,
    token_budget: z
      .number()
      .int()
      .min(MIN_CONTEXT_BUDGET)
      .max(MAX_MCP_CONTEXT_TOKENS)
      .default(DEFAULT_CONTEXT_BUDGET)
      .describe(
        `Tokens of all messages; ${DEFAULT_CONTEXT_BUDGET} if left out. More than ${MAX_MCP_CONTEXT_TOKENS} does not fit into an answer.`,
      ),
    recent_turns: z.number().int().min(1).max(1_000).optional().describe("The limit of turns."),
    include_facts: z.boolean().optional().describe("Adds the facts of the session."),
    query: QUERY.describe(
      "The query of the recall, in place of the newest user message.",
    ).optional(),
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
    omitted: z.array(OMISSION),
    tokens: z.number(),
    shortened: z
      .number()
      .int()
      .describe("Blocks that were cut; a note in each says how to read on."),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant }, input) => {
    const { session_id, recent_turns, include_facts, query } = input;
    const session = await tenant.getSession(session_id);
    const context = await session.buildContext({
      tokenBudget: input.token_budget,
      ...(recent_turns === undefined ? {} : { recentTurns: recent_turns }),
      ...(include_facts === undefined ? {} : { includeFacts: include_facts }),
      ...(query === undefined ? {} : { query }),
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
