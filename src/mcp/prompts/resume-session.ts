import type { PromptMessage } from "@modelcontextprotocol/server";
import { z } from "zod";
import { maskSession } from "../../api/mask.ts";
import type { ContextMessage } from "../../context/chat-model.ts";
import {
  DEFAULT_CONTEXT_BUDGET,
  MAX_ID_LENGTH,
  MAX_MCP_ANSWER_BYTES,
  MAX_MCP_CONTEXT_TOKENS,
  MIN_CONTEXT_BUDGET,
} from "../../model/limits.ts";
import { showBlocks, toBlockViews } from "../views/message-view.ts";
import { definePrompt, type Prompt } from "./prompt.ts";

export const resumeSession: Prompt = definePrompt({
  name: "resume_session",
  title: "Resume a conversation",
  description: "The turns of an earlier conversation, to go on with it here.",
  input: {
    session_id: z
      .string()
      .min(1)
      .max(MAX_ID_LENGTH)
      .describe("The session, as list_sessions gives it."),
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
  run: async ({ tenant }, { session_id, token_budget }) => {
    const session = await tenant.getSession(session_id);
    const { title } = maskSession(await session.meta());
    const context = await session.buildContext({ tokenBudget: token_budget });
    const opening = `The conversation ${session_id}${title === "" ? "" : ` (${title})`} is resumed. Its turns follow; list_messages reads the parts that do not fit here.`;
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
