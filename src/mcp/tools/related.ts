import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { quoteConversation } from "../../context/quote.ts";
import { BackscrollError } from "../../model/errors.ts";
import { DEFAULT_MCP_HIT_TOKENS, MAX_HITS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import { foundSession } from "../../recap/found-session.ts";
import { DEFAULT_RELATED, type Related, relatedSessions } from "../../recap/related.ts";
import type { SearchHit } from "../../search/request.ts";
import { fitListing } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import { findOwnSessions } from "../own-session.ts";
import { showHit } from "../views/hit-text.ts";
import { HIT_VIEW, toHitView } from "../views/hit-view.ts";
import { ABOUT, hits, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const INPUT = z.object({
  session_id: SESSION_ID.describe("This, or question.").optional(),
  question: z.string().min(1).max(MAX_QUERY_BYTES).describe("In any words.").optional(),
  limit: hits(DEFAULT_RELATED, `Of each kind; ${DEFAULT_RELATED} if left out.`),
});

export const related: Tool = defineTool({
  name: "related",
  title: "Related sessions",
  description:
    "Sessions like a given one, or where the same question was asked before. Use it before you solve what may be solved. Not for words that were said (search_sessions).",
  scope: "read",
  input: INPUT,
  example: { question: "why does the cron job run twice?" },
  output: z.object({
    about: ABOUT,
    question: z.string().nullable(),
    sessions: z.array(HIT_VIEW),
    asked: z.array(HIT_VIEW),
    notes: z.array(z.string()),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const { question, sessions, asked, notes } = await read(host, input);
    return {
      about: ABOUT_RECALLED,
      question: question === null ? null : maskText(question),
      sessions: sessions.map((hit) => toHitView(hit)),
      asked: asked.map((hit) => toHitView(hit)),
      notes: [...notes],
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const { sessions, asked, notes } = await read(host, input);
    const items = [
      ...(await show(host, "like it", sessions)),
      ...(await show(host, "asked before", asked)),
    ];
    if (items.length === 0) return ["Nothing like it is stored.", ...notes].join(" ");
    return fitListing(
      {
        items,
        toText: (shown, _from, to) => {
          const left = items.length - to;
          const more = left > 0 ? [`${left} more do not fit into max_tokens.`] : [];
          const on = 'Read on: list_messages { "around": "SESSION#NUMBER" }.';
          const found = quoteConversation(ABOUT_RECALLED, shown.join("\n"));
          return `${found}\n${[...more, on, ...notes].join(" ")}`;
        },
      },
      maxBytes,
    );
  },
});

async function show(
  host: McpHost,
  kind: string,
  found: readonly SearchHit[],
): Promise<readonly string[]> {
  const style = { before: 0, after: 0, now: nowOf(host), isNewest: false };
  const items: string[] = [];
  for (const hit of found) {
    const session = await foundSession(host.tenant, hit.sessionId);
    if (session === undefined) continue;
    items.push(`${kind}: ${showHit(hit, session, style)}`);
  }
  return items;
}

/** The caller's question is in its own transcript: that session is left out. */
async function read(host: McpHost, input: z.infer<typeof INPUT>): Promise<Related> {
  const { session_id: session, question, limit } = input;
  if ((session === undefined) === (question === undefined)) {
    throw new BackscrollError("invalid_input", "give exactly one of session_id and question", {
      details: { field: "session_id" },
    });
  }
  const { ids: own } = await findOwnSessions(host);
  const { sessions, asked, notes, ...found } = await relatedSessions(host.tenant, {
    limit: Math.min(MAX_HITS, limit + own.length),
    ...(session === undefined ? {} : { session }),
    ...(question === undefined ? {} : { question }),
  });
  const isOther = ({ sessionId }: SearchHit) => !own.includes(sessionId);
  return {
    ...found,
    sessions: sessions.filter(isOther).slice(0, limit),
    asked: asked.filter(isOther).slice(0, limit),
    notes: own.length === 0 ? notes : [...notes, "Your own session is left out."],
  };
}
