import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { sessionHeading } from "../../api/text/session-heading.ts";
import { quoteConversation } from "../../context/quote.ts";
import type { SessionListPage } from "../../engine/sessions/list-sessions.ts";
import { DEFAULT_MCP_LIST_TOKENS, DEFAULT_MCP_PAGE, MAX_MCP_PAGE } from "../../model/limits.ts";
import { isSubAgent, type Session } from "../../model/session.ts";
import { fitListing } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import { SESSION_VIEW, toSessionView } from "../views/session-view.ts";
import { ABOUT, name, PLACE, SUB_AGENTS, TIMES, TRUNCATED } from "./fields.ts";
import { sessionFilter } from "./session-filter.ts";
import { defineTool, type Tool } from "./tool.ts";

/** The limit of pages read to fill one, where sessions are left out. */
const MAX_PAGES = 20;

const INPUT = z.object({
  agent: name("Only sessions of this agent, such as claude-code.").optional(),
  title: name("Only titles that contain this.").optional(),
  ...PLACE,
  ...TIMES,
  machine_made: z
    .boolean()
    .optional()
    .describe("Also machine-made sessions, in which only programs made requests."),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_MCP_PAGE)
    .default(DEFAULT_MCP_PAGE)
    .describe(`Sessions; ${DEFAULT_MCP_PAGE} if left out.`),
  cursor: name("next_cursor of the previous page.").optional(),
  sub_agents: SUB_AGENTS,
});

export const listSessions: Tool = defineTool({
  name: "list_sessions",
  title: "List conversations",
  description:
    "List conversations, newest interaction first: titles and ids, to pick one. since and until filter by the last interaction. Not to learn what was done (recap), nor to find what was said (search_sessions).",
  scope: "read",
  input: INPUT,
  example: { since: "yesterday", project: "shop", limit: 10 },
  output: z.object({
    about: ABOUT,
    sessions: z.array(SESSION_VIEW),
    next_cursor: z.string().nullable().describe("Null on the last page."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "limit",
  cuts: [256],
  run: async (host, input) => {
    const page = await readPage(host, input);
    return {
      about: ABOUT_RECALLED,
      sessions: page.sessions.map(toSessionView),
      next_cursor: page.nextCursor ?? null,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const { sessions, nextCursor } = await readPage(host, input);
    if (sessions.length === 0) return nothing(input, nextCursor);
    const now = nowOf(host);
    return fitListing(
      {
        items: sessions.map((session) => showSession(session, now)),
        toText: (shown, _from, to) => {
          const listed = quoteConversation(ABOUT_RECALLED, shown.join("\n"));
          if (to < sessions.length) {
            const left = `${sessions.length - to} more do not fit into max_tokens`;
            return `${listed}\n${left}: limit ${to} gives a cursor that goes on.`;
          }
          return nextCursor === undefined ? listed : `${listed}\nMore: cursor ${nextCursor}`;
        },
      },
      maxBytes,
    );
  },
});

function showSession(session: Session, now: number): string {
  const more = [
    `${session.messageCount} messages`,
    ...(session.parentSessionId === null ? [] : ["fork"]),
    ...(isSubAgent(session) ? ["sub-agent"] : []),
  ];
  return sessionHeading(session, now, more);
}

function nothing(input: z.infer<typeof INPUT>, nextCursor: string | undefined): string {
  if (nextCursor !== undefined) return `None here. More: cursor ${nextCursor}`;
  const { limit: _, cursor: __, sub_agents: ___, ...filters } = input;
  return Object.keys(filters).length === 0
    ? "There are none: nothing was stored yet."
    : "None match. Leave out a filter, or search with search_sessions.";
}

async function readPage(
  { tenant, ...host }: McpHost,
  input: z.infer<typeof INPUT>,
): Promise<SessionListPage> {
  const { title, limit, cursor, machine_made: machineMade } = input;
  const filter = {
    ...sessionFilter(input, nowOf(host)),
    ...(title === undefined ? {} : { title }),
    ...(machineMade === undefined ? {} : { machineMade }),
  };
  const sessions: Session[] = [];
  let after = cursor;
  // Reads more pages to replace omitted sessions, within a limit.
  for (let pages = 0; pages < MAX_PAGES && sessions.length < limit; pages++) {
    const page = await tenant.listSessions({
      ...filter,
      limit: limit - sessions.length,
      ...(after === undefined ? {} : { cursor: after }),
    });
    const isListed = (each: Session) => input.sub_agents === true || !isSubAgent(each);
    sessions.push(...page.sessions.filter(isListed));
    after = page.nextCursor;
    if (after === undefined) break;
  }
  return after === undefined ? { sessions } : { sessions, nextCursor: after };
}
