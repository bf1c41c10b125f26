/** The prompts: description, arguments, messages. */

import type {
  GetPromptResult,
  Prompt as ListedPrompt,
  PromptMessage,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { maskSession } from "../api/mask.ts";
import type { ContextMessage } from "../context/chat-model.ts";
import { quoteExcerpt, quoteRecalled } from "../context/quote.ts";
import {
  DEFAULT_CONTEXT_BUDGET,
  DEFAULT_HITS,
  MAX_ID_LENGTH,
  MAX_MCP_ANSWER_BYTES,
  MAX_MCP_CONTEXT_TOKENS,
  MAX_QUERY_BYTES,
  MIN_CONTEXT_BUDGET,
} from "../model/limits.ts";
import type { SearchHit } from "../search/request.ts";
import { shownName } from "./agent-names.ts";
import { inCallersWords, toInputError, toProtocolFailure } from "./failure.ts";
import type { McpHost } from "./host.ts";
import { findOwnSessions } from "./own-session.ts";
import { showBlocks, toBlockViews } from "./views/message.ts";

interface Prompt {
  readonly name: string;
  readonly example: Readonly<Record<string, string>>;
  readonly list: ListedPrompt;
  readonly get: (host: McpHost, args: unknown) => Promise<GetPromptResult>;
}

interface Definition<Input extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** All strings: the protocol has no other type. */
  readonly input: Input;
  /** Example arguments, shown with errors. */
  readonly example: Readonly<Record<string, string>>;
  readonly run: (
    host: McpHost,
    input: z.infer<z.ZodObject<Input>>,
  ) => Promise<GetPromptResult["messages"]>;
}

function definePrompt<Input extends z.ZodRawShape>(definition: Definition<Input>): Prompt {
  const { name, title, description, example, run } = definition;
  const input = z.object(definition.input);
  return {
    name,
    example,
    list: {
      name,
      title,
      description,
      arguments: Object.entries(input.shape).map(([argument, schema]) => {
        const field = schema as z.ZodType;
        return {
          name: argument,
          description: field.description ?? "",
          required: !field.safeParse(undefined).success,
        };
      }),
    },
    get: async (host, args) => {
      try {
        const given = args ?? {};
        const parsed = input.strict().safeParse(given);
        const called = { name, input, example };
        if (!parsed.success) throw toInputError(parsed.error, given, called);
        const asked = parsed.data as z.infer<z.ZodObject<Input>>;
        const messages = await inCallersWords(called, () => run(host, asked));
        return { description, messages };
      } catch (error) {
        throw toProtocolFailure(error, host);
      }
    },
  };
}

const resumeSession: Prompt = definePrompt({
  name: "resume_session",
  title: "Resume a conversation",
  description: "The turns of an earlier conversation, to go on with it here.",
  input: {
    session_id: z.string().min(1).max(MAX_ID_LENGTH).describe("The session's id, such as k3f9."),
    token_budget: z.coerce
      .number()
      .int()
      .min(MIN_CONTEXT_BUDGET)
      .max(MAX_MCP_CONTEXT_TOKENS)
      .default(DEFAULT_CONTEXT_BUDGET)
      .describe(
        `Tokens of the turns; ${DEFAULT_CONTEXT_BUDGET} if left out, ${MAX_MCP_CONTEXT_TOKENS} at most.`,
      ),
  },
  example: { session_id: "01JABCDEFGHJKMNPQRSTVWXYZ0", token_budget: "4000" },
  run: async (host, { session_id, token_budget }) => {
    const { tenant } = host;
    const session = await tenant.getSession(session_id);
    const { title } = maskSession(await session.meta());
    const context = await session.buildContext({ tokenBudget: token_budget });
    const opening = `The conversation ${session_id}${title === "" ? "" : ` (${title})`} is resumed. Its turns follow; ${shownName(host, "list_messages")} reads the parts that do not fit here.`;
    return [say("user", opening), ...context.messages.flatMap(toPromptMessages)];
  },
});

/** The protocol has two roles: messages of tools and the system become the user's. */
function toPromptMessages({ role, blocks }: ContextMessage): PromptMessage[] {
  const text = showBlocks(toBlockViews(blocks, MAX_MCP_ANSWER_BYTES).blocks);
  if (text === "") return [];
  if (role === "assistant") return [say("assistant", text)];
  return [say("user", role === "user" ? text : `(${role}) ${text}`)];
}

function say(role: "user" | "assistant", text: string): PromptMessage {
  return { role, content: { type: "text", text } };
}

const ask = (host: McpHost) =>
  `Answer from the excerpts below, and from ${shownName(host, "search_sessions")} and ${shownName(host, "list_messages")} if they do not suffice. Say what was decided, when and in which session, and what was turned down and why. If a later decision replaced an earlier one, say so. If nothing was decided, say that.`;

const whatDidWeDecide: Prompt = definePrompt({
  name: "what_did_we_decide",
  title: "What did we decide about …",
  description: "The decisions on a topic in earlier conversations, with their sources.",
  input: {
    topic: z.string().min(1).max(MAX_QUERY_BYTES).describe("The topic of the decision."),
  },
  example: { topic: "the cron lock" },
  run: async (host, { topic }) => {
    const { ids: excludeSession } = await findOwnSessions(host);
    const { hits } = await host.tenant.searchSessions(topic, {
      // The topic is plain words, without operators.
      match: "words",
      limit: DEFAULT_HITS,
      contextBefore: 1,
      contextAfter: 2,
      excludeSession,
    });
    const found = hits.length === 0 ? "Nothing was found." : quoteRecalled(hits.flatMap(excerpts));
    const text = `What did we decide about ${topic}?\n\n${ask(host)}\n\n${found}`;
    return [{ role: "user", content: { type: "text", text } }];
  },
});

function excerpts({ sessionId, window }: SearchHit): string[] {
  return window.map(({ entryId, role, actor, createdAt, snippet, truncated }) => {
    const text = truncated ? `${snippet}…` : snippet;
    return quoteExcerpt({ sessionId, entryId, role, actor, createdAt, text, own: false });
  });
}

export const PROMPTS: readonly Prompt[] = [whatDidWeDecide, resumeSession];
