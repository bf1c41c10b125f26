import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { isMachineMade } from "../../api/session.ts";
import { quoteConversation } from "../../context/quote.ts";
import { DEFAULT_MCP_PAGE, MAX_MCP_PAGE } from "../../model/limits.ts";
import { SESSION_VIEW, showSession, toSessionView } from "../views/session-view.ts";
import { ABOUT, name, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

export const listSessions: Tool = defineTool({
  name: "list_sessions",
  title: "List conversations",
  description: "List conversations, those that people spoke in last first.",
  scope: "read",
  input: z.object({
    agent: name("Only sessions of this agent, such as claude-code.").optional(),
    project_id: name("Only sessions of this project: its id, or the end of its path.").optional(),
    repo: name(
      "Only clones and worktrees of this repository: acme/shop, or all of its remote.",
    ).optional(),
    workstation_id: name("Only sessions of this machine.").optional(),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MAX_MCP_PAGE)
      .default(DEFAULT_MCP_PAGE)
      .describe(`Sessions; ${DEFAULT_MCP_PAGE} if left out.`),
    cursor: name("The next_cursor of the page before.").optional(),
  }),
  example: { agent: "claude-code", limit: 10 },
  output: z.object({
    about: ABOUT,
    sessions: z.array(SESSION_VIEW),
    next_cursor: z.string().nullable().describe("Null on the last page."),
    truncated: TRUNCATED,
  }),
  counts: "limit",
  cuts: [256],
  run: async ({ tenant }, input) => {
    const { agent, project_id: project, repo, workstation_id: workstation, limit, cursor } = input;
    const page = await tenant.listSessions({
      limit,
      ...(agent === undefined ? {} : { agent }),
      ...(project === undefined ? {} : { project }),
      ...(repo === undefined ? {} : { repo }),
      ...(workstation === undefined ? {} : { workstation }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    return {
      about: ABOUT_RECALLED,
      sessions: page.sessions.filter((each) => !isMachineMade(each)).map(toSessionView),
      next_cursor: page.nextCursor ?? null,
      truncated: null,
    };
  },
  toText: ({ about, sessions, next_cursor }) => {
    if (sessions.length === 0) return "There are none.";
    const listed = quoteConversation(about, sessions.map(showSession).join("\n"));
    return next_cursor === null ? listed : `${listed}\nMore: cursor ${next_cursor}`;
  },
});
