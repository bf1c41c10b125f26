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
import { findNewestSession, findOwnSessions } from "../own-session.ts";
import { readOn } from "../refs.ts";
import { showHit } from "../views/hit-text.ts";
import { HIT_VIEW, toHitView } from "../views/hit-view.ts";
import { ABOUT, hits, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const INPUT = z.object({
  session_id: SESSION_ID.describe("A session, in place of question.").optional(),
  question: z.string().min(1).max(MAX_QUERY_BYTES).describe("A question, in any words.").optional(),
  limit: hits(DEFAULT_RELATED, `Of each kind; ${DEFAULT_RELATED} if left out.`),
});

export const related: Tool = defineTool({
  name: "related",
  title: "Related sessions",
  description:
    "Sessions like a given one, or where the same question was asked before. Use it before you solve a problem that may be solved already. Not for words that were said (search_sessions).",
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
    const { question, sessions, asked, notes, newest } = await read(host, input);
    return {
      about: ABOUT_RECALLED,
      question: question === null ? null : maskText(question),
      sessions: sessions.map((hit) => toHitView(hit, newest)),
      asked: asked.map((hit) => toHitView(hit, newest)),
      notes: [...notes],
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const found = await read(host, input);
    const items: string[] = [];
    let on = "";
    for (const { kind, hit } of inOrder(found)) {
      const session = await foundSession(host.tenant, hit.sessionId);
      if (session === undefined) continue;
      const isNewest = hit.sessionId === found.newest;
      const style = { before: 0, after: 0, now: nowOf(host), isNewest };
      items.push(`${kind}: ${showHit(hit, session, style)}`);
      on ||= readOn(hit.shortId, hit.index);
    }
    if (items.length === 0) return ["Nothing like it is stored.", ...found.notes].join(" ");
    return fitListing(
      {
        items,
        toText: (shown, _from, to) => {
          const left = items.length - to;
          const more = left > 0 ? [`${left} more do not fit into max_tokens.`] : [];
          const quoted = quoteConversation(ABOUT_RECALLED, shown.join("\n"));
          return `${quoted}\n${[...more, on, ...found.notes].join(" ")}`;
        },
      },
      maxBytes,
    );
  },
});

interface Kind {
  readonly kind: "asked before" | "like it";
  readonly hit: SearchHit;
}

/** Each session once, both kinds in turn, the newest session last: it may be the caller's own. */
function inOrder({ sessions, asked, newest }: Found): readonly Kind[] {
  const ordered: Kind[] = [];
  for (let i = 0; i < Math.max(asked.length, sessions.length); i++) {
    const [same, alike] = [asked[i], sessions[i]];
    if (same !== undefined) ordered.push({ kind: "asked before", hit: same });
    if (alike !== undefined) ordered.push({ kind: "like it", hit: alike });
  }
  const seen = new Set<string>();
  const once = ordered.filter(({ hit }) => {
    const isNew = !seen.has(hit.sessionId);
    seen.add(hit.sessionId);
    return isNew;
  });
  const isNewest = ({ hit }: Kind) => hit.sessionId === newest;
  return [...once.filter((each) => !isNewest(each)), ...once.filter(isNewest)];
}

interface Found extends Related {
  /** The session that may be the caller's, if none is named. */
  readonly newest: string | undefined;
}

/** The caller's question is in its own transcript, so that session is left out. */
async function read(host: McpHost, input: z.infer<typeof INPUT>): Promise<Found> {
  const { session_id: session, question, limit } = input;
  if ((session === undefined) === (question === undefined)) {
    throw new BackscrollError("invalid_input", "give exactly one of session_id and question", {
      details: { field: "session_id" },
    });
  }
  const { ids: own, isNamed } = await findOwnSessions(host);
  const { sessions, asked, notes, ...found } = await relatedSessions(host.tenant, {
    limit: Math.min(MAX_HITS, limit + own.length),
    ...(session === undefined ? {} : { session }),
    ...(question === undefined ? {} : { question }),
  });
  const isOther = ({ sessionId }: SearchHit) => !own.includes(sessionId);
  return {
    ...found,
    newest: isNamed ? undefined : await findNewestSession(host),
    sessions: sessions.filter(isOther).slice(0, limit),
    asked: asked.filter(isOther).slice(0, limit),
    notes: own.length === 0 ? notes : [...notes, "Your own session is left out."],
  };
}
