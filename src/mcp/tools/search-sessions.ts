import { z } from "zod";
import { ABOUT_RECALLED, MEMORY_WORDS } from "../../api/memory-words.ts";
import { parseWireTime } from "../../api/wire.ts";
import { quoteConversation } from "../../context/quote.ts";
import { DEFAULT_CONTEXT, DEFAULT_HITS, MAX_WINDOW } from "../../model/limits.ts";
import { findOwnSessions } from "../own-session.ts";
import { HIT_VIEW, showHit, toHitViews } from "../views/hit-view.ts";
import { ABOUT, hits, id, name, QUERY, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const context = (description: string) =>
  z
    .number()
    .int()
    .min(0)
    .max(MAX_WINDOW - 1)
    .default(DEFAULT_CONTEXT)
    .describe(description);

export const searchSessions: Tool = defineTool({
  name: "search_sessions",
  title: "Search earlier conversations",
  description: `${MEMORY_WORDS.searchSessions} Read on with list_messages, around the entry_id of a hit.`,
  scope: "read",
  input: z.object({
    query: QUERY,
    context_before: context(MEMORY_WORDS.contextBefore),
    context_after: context(MEMORY_WORDS.contextAfter),
    agent: name("Only sessions of this agent, such as claude-code.").optional(),
    project_id: name("Only sessions of this project: its id, or the end of its path.").optional(),
    repo: name(
      "Only clones and worktrees of this repository: acme/shop, or all of its remote.",
    ).optional(),
    workstation_id: name("Only sessions of this machine.").optional(),
    since: name(MEMORY_WORDS.since).optional(),
    until: name(MEMORY_WORDS.until).optional(),
    limit: hits(DEFAULT_HITS, MEMORY_WORDS.hits),
    exclude_session: id("A session to leave out, such as the one you speak in.").optional(),
  }),
  example: { query: "cron lock", since: "2026-01-31", limit: 5 },
  output: z.object({
    about: ABOUT,
    hits: z.array(HIT_VIEW),
    notes: z.array(z.string()),
    excluded_sessions: z.array(z.string()).describe("Left out: the caller's own."),
    indexing: z.boolean(),
    degraded: z.boolean(),
    partial: z.boolean(),
    truncated: TRUNCATED,
  }),
  counts: "limit",
  cuts: [512, 256],
  run: async (host, input) => {
    const { since, until, agent, project_id: project, repo, workstation_id: workstation } = input;
    const own = await findOwnSessions(host, input.exclude_session);
    const result = await host.tenant.searchSessions(input.query, {
      contextBefore: input.context_before,
      contextAfter: input.context_after,
      limit: input.limit,
      excludeSession: own,
      ...(agent === undefined ? {} : { agent }),
      ...(project === undefined ? {} : { project }),
      ...(repo === undefined ? {} : { repo }),
      ...(workstation === undefined ? {} : { workstation }),
      ...(since === undefined ? {} : { since: parseWireTime(since, "since") }),
      ...(until === undefined ? {} : { until: parseWireTime(until, "until") }),
    });
    const { notes, indexing, degraded, partial } = result;
    return {
      about: ABOUT_RECALLED,
      hits: [...toHitViews(result)],
      notes: [...notes],
      excluded_sessions: [...own],
      ...{ indexing, degraded, partial, truncated: null },
    };
  },
  toText: ({ about, hits: found, notes }) => {
    const said = notes.map((note) => `Note: ${note}`);
    if (found.length === 0) return ["Nothing was found.", ...said].join("\n");
    return [quoteConversation(about, found.map(showHit).join("\n\n")), ...said].join("\n");
  },
});
