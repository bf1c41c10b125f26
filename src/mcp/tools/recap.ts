import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { DEFAULT_MCP_LIST_TOKENS } from "../../model/limits.ts";
import {
  DEFAULT_RECAP_SESSIONS,
  type Recap,
  type RecapLine,
  recapSessions,
  type SessionRecap,
} from "../../recap/recap.ts";
import { showRecap } from "../../recap/show-recap.ts";
import { fitSessions } from "../fit-sessions.ts";
import { type McpHost, nowOf } from "../host.ts";
import { ABOUT, hits, name, PLACE, SESSION_ID, SUB_AGENTS, TIMES, TRUNCATED } from "./fields.ts";
import { sessionFilter } from "./session-filter.ts";
import { defineTool, type Tool } from "./tool.ts";

/** A recap as data. */
const LINE = z.object({ msg_idx: z.number().int(), text: z.string() });

const RECAP_VIEW: z.ZodType<RecapView> = z.object({
  session_id: z.string(),
  short_id: z.string(),
  title: z.string(),
  messages: z.number().int().describe("Within the period."),
  unread: z.number().int().describe("Older ones, which were not read."),
  requests: z.array(LINE),
  request_count: z.number().int(),
  outcome: LINE.nullable(),
  files_changed: z.array(
    z.object({ path: z.string(), msg_idx: z.number().int(), times: z.number().int() }),
  ),
  files_read: z.number().int(),
  commands: z.array(LINE.extend({ times: z.number().int(), failed: z.boolean().nullable() })),
  lookups: z.number().int().describe("The number of read-only commands."),
});

interface LineView {
  readonly msg_idx: number;
  readonly text: string;
}

interface RecapView {
  readonly session_id: string;
  readonly short_id: string;
  readonly title: string;
  readonly messages: number;
  readonly unread: number;
  readonly requests: LineView[];
  readonly request_count: number;
  readonly outcome: LineView | null;
  readonly files_changed: { path: string; msg_idx: number; times: number }[];
  readonly files_read: number;
  readonly commands: (LineView & { times: number; failed: boolean | null })[];
  readonly lookups: number;
}

function toRecapView(recap: SessionRecap): RecapView {
  const { session, outcome } = recap;
  return {
    session_id: session.id,
    short_id: session.shortId,
    title: maskText(session.title),
    messages: recap.messages,
    unread: recap.unread,
    requests: recap.requests.map(toLineView),
    request_count: recap.requestCount,
    outcome: outcome === null ? null : toLineView(outcome),
    files_changed: recap.filesChanged.map(({ path, index, times }) => ({
      path: maskText(path),
      msg_idx: index,
      times,
    })),
    files_read: recap.filesRead,
    commands: recap.commands.map((command) => ({
      ...toLineView(command),
      times: command.times,
      failed: command.failed ?? null,
    })),
    lookups: recap.lookups,
  };
}

function toLineView({ index, text }: RecapLine): LineView {
  return { msg_idx: index, text: maskText(text) };
}

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
