import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { DEFAULT_MCP_HIT_TOKENS, MAX_HITS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import { showTraced, traceNotes } from "../../recap/show-trace.ts";
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
    within_words: z.boolean().describe("No session has the text as whole words."),
    more_sessions: z.number().int().describe("Further sessions that have it."),
    unread_sessions: z
      .number()
      .int()
      .describe("Older sessions that may have it and were not read; 0: complete."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const { sessions, withinWords, more, unread } = await read(host, input);
    return {
      about: ABOUT_RECALLED,
      sessions: sessions.map(toTracedView),
      within_words: withinWords,
      more_sessions: more,
      unread_sessions: unread,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const found = await read(host, input);
    const { sessions } = found;
    const notes = [...traceNotes(found, WORDS), ...(await ownNotes(host))];
    if (sessions.length === 0) return notes.join(" ");
    const now = nowOf(host);
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

const WORDS = {
  search: "search_sessions",
  limit: `limit, at most ${MAX_HITS}, shows more`,
  narrow: "since, project or agent",
};

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
  return traceWork(host.tenant, found);
}
