import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import type { WireFact } from "../../api/note.ts";
import { quoteConversation } from "../../context/quote.ts";
import { RECALL_SCOPES } from "../../engine/context/recall.ts";
import { DEFAULT_MCP_MESSAGE_BYTES } from "../../model/limits.ts";
import { FACT_VIEW, showFact, toFactView } from "../views/memory-view.ts";
import {
  MESSAGE_VIEW,
  type MessageView,
  showMessage,
  toMessageView,
} from "../views/message-view.ts";
import { ABOUT, EXAMPLE_ID, hits, QUERY, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

/** Of the messages that recall gives, as the library does if nobody says otherwise. */
const DEFAULT_RECALLED = 8;

interface RecalledMessage {
  readonly session_id: string;
  readonly score: number;
  readonly message: MessageView;
}

export const recall: Tool = defineTool({
  name: "recall",
  title: "Recall from a conversation",
  description:
    "Messages and facts of a conversation that bear on a question, the best first. Wider with scope: all of its owner, or all there are.",
  scope: "read",
  input: z.object({
    session_id: SESSION_ID,
    query: QUERY,
    k: hits(DEFAULT_RECALLED, `Messages and facts together; ${DEFAULT_RECALLED} if left out.`),
    scope: z
      .enum(RECALL_SCOPES)
      .default("session")
      .describe("This session, all of its owner's, or all; session if left out."),
  }),
  example: { session_id: EXAMPLE_ID, query: "cron lock", scope: "session" },
  output: z.object({
    about: ABOUT,
    messages: z.array(
      z.object({ session_id: z.string(), score: z.number(), message: MESSAGE_VIEW }),
    ),
    facts: z.array(FACT_VIEW),
    truncated: TRUNCATED,
  }),
  counts: "k",
  cuts: [512],
  run: async ({ tenant }, { session_id, query, k, scope }) => {
    const session = await tenant.getSession(session_id);
    const messages: RecalledMessage[] = [];
    const facts: WireFact[] = [];
    for await (const item of session.recall(query, { k, scope })) {
      if (item.type === "fact") facts.push(toFactView(item.fact));
      else {
        const message = toMessageView(item.entry, DEFAULT_MCP_MESSAGE_BYTES);
        messages.push({ session_id: item.entry.sessionId, score: item.score, message });
      }
    }
    return { about: ABOUT_RECALLED, messages, facts, truncated: null };
  },
  toText: ({ about, messages, facts }) => {
    if (messages.length + facts.length === 0) return "Nothing was found.";
    const said = messages.map(({ session_id, message }) => {
      return `session ${session_id}\n${showMessage(message)}`;
    });
    return quoteConversation(about, [...said, ...facts.map(showFact)].join("\n\n"));
  },
});
