import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { DEFAULT_MCP_HIT_TOKENS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import { showTraced } from "../../recap/show-trace.ts";
import { DEFAULT_TRACED_SESSIONS, type Trace, traceWork } from "../../recap/trace.ts";
import { lastIndexOf } from "../../recap/trace-session.ts";
import { fitSessions } from "../fit-sessions.ts";
import { type McpHost, nowOf } from "../host.ts";
import { findOwnSessions } from "../own-session.ts";
import { TRACED_VIEW, toTracedView } from "../views/trace-view.ts";
import { ABOUT, hits, name, PLACE, TIMES, TRUNCATED } from "./fields.ts";
import { sessionFilter } from "./session-filter.ts";
import { defineTool, type Tool } from "./tool.ts";

const text = (description: string) =>
  z.string().min(1).max(MAX_QUERY_BYTES).describe(description).optional();

const INPUT = z.object({
  file: text("A path, or the end of one: src/cron.ts."),
  command: text("A command, or part of one: npm test."),
  error: text("The text of an error, or a distinctive part of it."),
  ...TIMES,
  ...PLACE,
  agent: name("Only sessions of this agent, such as claude-code.").optional(),
  limit: hits(
    DEFAULT_TRACED_SESSIONS,
    `Sessions, the newest first; ${DEFAULT_TRACED_SESSIONS} if left out.`,
  ),
});

export const trace: Tool = defineTool({
  name: "trace",
  title: "Trace a file, a command or an error",
  description:
    "Find the sessions that changed or read a file, ran a command, or met an error, and the error's fix. Takes one of file, command and error. Use it when you meet an error, or before you change code that others may have changed for a reason. Not for words that were said (search_sessions).",
  scope: "read",
  input: INPUT,
  example: { error: "database is locked" },
  output: z.object({
    about: ABOUT,
    sessions: z.array(TRACED_VIEW),
    unread_sessions: z.number().int().describe("Sessions that may match and were not read."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const { sessions, unread } = await read(host, input);
    return {
      about: ABOUT_RECALLED,
      sessions: sessions.map(toTracedView),
      unread_sessions: unread,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const { subject, sessions, unread } = await read(host, input);
    if (sessions.length === 0) {
      const none = `No session has this ${subject.kind}. Try a shorter part of it; search_sessions also finds mentions.`;
      return [none, ...(await ownNotes(host))].join(" ");
    }
    const now = nowOf(host);
    const older = unread > 0 ? ["Older sessions may have it, too: raise limit."] : [];
    const notes = [...older, ...(await ownNotes(host))];
    return fitSessions(
      sessions.map((each) => ({
        text: showTraced(each, now),
        shortId: each.session.shortId,
        index: lastIndexOf(each.finding),
      })),
      notes,
      maxBytes,
    );
  },
});

async function ownNotes(host: McpHost): Promise<readonly string[]> {
  return (await findOwnSessions(host)).ids.length > 0 ? ["Your own session is left out."] : [];
}

async function read(host: McpHost, input: z.infer<typeof INPUT>): Promise<Trace> {
  const { file, command, error, limit } = input;
  const now = nowOf(host);
  const { ids: excludeSession } = await findOwnSessions(host);
  const found = {
    ...sessionFilter(input, now),
    limit,
    excludeSession,
    ...(file === undefined ? {} : { file }),
    ...(command === undefined ? {} : { command }),
    ...(error === undefined ? {} : { error }),
  };
  return traceWork(host.tenant, found, now);
}
