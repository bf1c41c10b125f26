import { z } from "zod";
import { quoteExcerpt, quoteRecalled } from "../../context/quote.ts";
import { DEFAULT_HITS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import type { SearchHit } from "../../search/request.ts";
import { findOwnSessions } from "../own-session.ts";
import { definePrompt, type Prompt } from "./prompt.ts";

const ASK =
  "Answer from the excerpts below, and from search_sessions and list_messages if they do not suffice. Say what was decided, when and in which session, and what was turned down and why. If a later decision replaced an earlier one, say so. If nothing was decided, say that.";

export const whatDidWeDecide: Prompt = definePrompt({
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
    const text = `What did we decide about ${topic}?\n\n${ASK}\n\n${found}`;
    return [{ role: "user", content: { type: "text", text } }];
  },
});

function excerpts({ sessionId, window }: SearchHit): string[] {
  return window.map(({ entryId, role, actor, createdAt, snippet, truncated }) => {
    const text = truncated ? `${snippet}…` : snippet;
    return quoteExcerpt({ sessionId, entryId, role, actor, createdAt, text, own: false });
  });
}
