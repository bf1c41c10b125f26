import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import type { WireOf } from "../../api/shape.ts";
import { quoteConversation } from "../../context/quote.ts";
import { RECALL_SCOPES } from "../../engine/context/recall.ts";
import type { Entry } from "../../model/entry.ts";
import { DEFAULT_MCP_LIST_TOKENS, DEFAULT_MCP_MESSAGE_BYTES } from "../../model/limits.ts";
import type { FACT } from "../../model/note.ts";
import type { Session } from "../../model/session.ts";
import { foundSession } from "../../recap/found-session.ts";
import { fitListing } from "../fit-listing.ts";
import { readOn } from "../refs.ts";
import { toLine } from "../views/line.ts";
import { FACT_VIEW, showFact, toFactView } from "../views/memory-view.ts";
import { showMessage } from "../views/message-text.ts";
import { MESSAGE_VIEW, type MessageView, toMessageView } from "../views/message-view.ts";
import { ABOUT, EXAMPLE_ID, hits, QUERY, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

/** The library's default number of recalled messages. */
const DEFAULT_RECALLED = 8;

/** Characters per message in a model's answer. */
const SHOWN_CHARACTERS = 600;

interface RecalledMessage {
  readonly session_id: string;
  readonly short_id: string;
  readonly score: number;
  readonly message: MessageView;
}

export const recall: Tool = defineTool({
  name: "recall",
  title: "Recall from a conversation",
  description:
    "Single messages and facts of one conversation that bear on a question, the best first; scope widens it to its owner's conversations, or to all. Use it to look something up in a session that you know. Not to find a session (search_sessions).",
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
      z.object({
        session_id: z.string(),
        short_id: z.string(),
        score: z.number(),
        message: MESSAGE_VIEW,
      }),
    ),
    facts: z.array(FACT_VIEW),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "k",
  cuts: [512],
  run: async ({ tenant }, { session_id, query, k, scope }) => {
    const session = await tenant.getSession(session_id);
    const messages: RecalledMessage[] = [];
    const facts: WireOf<typeof FACT>[] = [];
    for await (const item of session.recall(query, { k, scope })) {
      if (item.type === "fact") facts.push(toFactView(item.fact));
      else {
        const message = toMessageView(item.entry, DEFAULT_MCP_MESSAGE_BYTES);
        const of = await foundSession(tenant, item.entry.sessionId);
        if (of === undefined) continue;
        messages.push({ session_id: of.id, short_id: of.shortId, score: item.score, message });
      }
    }
    return { about: ABOUT_RECALLED, messages, facts, truncated: null };
  },
  show: async (host, { session_id, query, k, scope }, maxBytes) => {
    const { tenant } = host;
    const session = await tenant.getSession(session_id);
    const items: string[] = [];
    let on = "";
    for await (const item of session.recall(query, { k, scope })) {
      if (item.type === "fact") {
        items.push(showFact(toFactView(item.fact)));
        continue;
      }
      const of = await foundSession(tenant, item.entry.sessionId);
      if (of === undefined) continue;
      items.push(showRecalled(item.entry, of));
      on ||= ` ${readOn(of.shortId, item.entry.index)}`;
    }
    if (items.length === 0) return "Nothing was found. search_sessions looks into all sessions.";
    return fitListing(
      {
        items,
        toText: (shown) => {
          const left = items.length - shown.length;
          const more = left === 0 ? "" : ` ${left} more do not fit into max_tokens.`;
          const notes = `${more}${on}`.trim();
          return [quoteConversation(ABOUT_RECALLED, shown.join("\n")), notes].join("\n").trim();
        },
      },
      maxBytes,
    );
  },
});

/** `k3f9#12 user: …`, as one line. */
function showRecalled(entry: Entry, { shortId, agent, origin }: Session): string {
  const message = showMessage(entry, { agent, project: origin.projectPath });
  return `${shortId}${toLine(message, SHOWN_CHARACTERS)}`;
}
