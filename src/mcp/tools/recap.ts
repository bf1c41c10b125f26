import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { DEFAULT_MCP_LIST_TOKENS } from "../../model/limits.ts";
import { DEFAULT_RECAP_SESSIONS, type Recap, recapSessions } from "../../recap/recap.ts";
import { showRecap } from "../../recap/show-recap.ts";
import { fitSessions } from "../fit-sessions.ts";
import { type McpHost, nowOf } from "../host.ts";
import { RECAP_VIEW, toRecapView } from "../views/recap-view.ts";
import { ABOUT, hits, name, PLACE, SESSION_ID, SUB_AGENTS, TIMES, TRUNCATED } from "./fields.ts";
import { sessionFilter } from "./session-filter.ts";
import { defineTool, type Tool } from "./tool.ts";

const INPUT = z.object({
  ...TIMES,
  ...PLACE,
  agent: name("Only sessions of this agent, such as claude-code.").optional(),
  session_id: SESSION_ID.describe("Only this session.").optional(),
  limit: hits(
    DEFAULT_RECAP_SESSIONS,
    `Sessions, the newest first; ${DEFAULT_RECAP_SESSIONS} if left out.`,
  ),
  sub_agents: SUB_AGENTS,
});

export const recap: Tool = defineTool({
  name: "recap",
  title: "Recap",
  description:
    'The work of a period, a project or a session: requests, outcomes, changed files and run commands. Use it for "what did I do yesterday?" or "where were we in this project?". Not to find something that was said (search_sessions).',
  scope: "read",
  input: INPUT,
  example: { since: "yesterday", until: "yesterday", project: "shop" },
  output: z.object({
    about: ABOUT,
    sessions: z.array(RECAP_VIEW),
    more: z.boolean().describe("There are more sessions in the period."),
    sub_agents: z.number().int().describe("Sessions of sub-agents that were left out."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const { sessions, more, subAgents } = await read(host, input);
    return {
      about: ABOUT_RECALLED,
      sessions: sessions.map(toRecapView),
      more,
      sub_agents: subAgents,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const { sessions, more, subAgents } = await read(host, input);
    if (sessions.length === 0) {
      const nothing = "No stored work in this period. Widen since and until, or leave out project.";
      return [nothing, ...leftOut(subAgents)].join(" ");
    }
    const now = nowOf(host);
    const notes = [
      ...(more ? ["There are more: raise limit, or narrow since and until."] : []),
      ...leftOut(subAgents),
    ];
    return fitSessions(
      sessions.map((each) => ({
        text: showRecap(each, now),
        shortId: each.session.shortId,
        index: each.outcome?.index ?? each.requests.at(-1)?.index ?? null,
      })),
      notes,
      maxBytes,
    );
  },
});

function leftOut(subAgents: number): string[] {
  if (subAgents === 0) return [];
  const sessions =
    subAgents === 1 ? "1 session of a sub-agent is" : `${subAgents} of sub-agents are`;
  return [`${sessions} left out; sub_agents: true tells them, too.`];
}

function read(host: McpHost, input: z.infer<typeof INPUT>): Promise<Recap> {
  const { limit, session_id: session } = input;
  return recapSessions(host.tenant, {
    ...sessionFilter(input, nowOf(host)),
    limit,
    subAgents: input.sub_agents === true,
    ...(session === undefined ? {} : { session }),
  });
}
