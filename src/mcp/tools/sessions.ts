/** The tools that list sessions and show one: its fields, its context, the store. */

import { z } from "zod";
import { maskSession, maskText } from "../../api/mask.ts";
import { toWireSession, type WireSession } from "../../api/session.ts";
import { fromWire, toWire, type WireOf } from "../../api/shape.ts";
import { SESSION_KINDS, sessionFields, shapeSchema } from "../../api/shape-schema.ts";
import { ABOUT_RECALLED, sessionHeading } from "../../api/text/session-heading.ts";
import { formatAgo } from "../../api/text/times.ts";
import { quoteConversation } from "../../context/quote.ts";
import type { SessionListPage } from "../../engine/sessions/list-sessions.ts";
import { CONTEXT_USAGE, OUTCOME } from "../../model/answers/context.ts";
import { TENANT_STATUS } from "../../model/answers/store.ts";
import { defined } from "../../model/defined.ts";
import { outcomeWords } from "../../model/display.ts";
import {
  DEFAULT_MCP_HIT_TOKENS,
  DEFAULT_MCP_LIST_TOKENS,
  DEFAULT_MCP_PAGE,
  MAX_MCP_PAGE,
} from "../../model/limits.ts";
import { isSubAgent, type Session } from "../../model/session.ts";
import { shownName } from "../agent-names.ts";
import { cutToBytes, fitListing } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import { findOthers, MAYBE_OWN, OWN_LEFT_OUT } from "../own-session.ts";
import { toLine } from "../views/line.ts";
import {
  ABOUT,
  EXAMPLE_ID,
  filterFields,
  hits,
  name,
  SESSION_ID,
  SUB_AGENTS,
  sessionFilter,
  TIMES,
  TRUNCATED,
} from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const VIEWED = [
  "id",
  "short_id",
  "title",
  "agent",
  "owner",
  "created_at",
  "updated_at",
  "last_interaction_at",
  "message_count",
  "summary",
  "parent_session_id",
  "workstation_id",
  "project_id",
  "project_path",
  "git_branch",
  "exchange_count",
  "tool_counts",
  "file_mtime",
  "first_msg_at",
  "last_msg_at",
] as const;

type SessionView = Pick<WireSession, (typeof VIEWED)[number]> & {
  readonly source: string | null;
  readonly sub_agent: boolean;
  readonly outcome: WireOf<typeof OUTCOME> | null;
};

/** A list shows the head of a summary. */
const SUMMARY_BYTES = 512;

const text = z.string().nullable();

const WIRE_FIELDS = sessionFields(SESSION_KINDS);

const WIRE_SESSION: z.ZodType<WireSession> = z.object(
  WIRE_FIELDS,
) as unknown as z.ZodType<WireSession>;

const SESSION_VIEW: z.ZodType<SessionView> = z.object({
  ...Object.fromEntries(VIEWED.map((name) => [name, WIRE_FIELDS[name] ?? text])),
  source: text,
  sub_agent: z.boolean(),
  outcome: shapeSchema(OUTCOME).nullable(),
}) as unknown as z.ZodType<SessionView>;

function toSessionView(session: Session, { outcomes }: SessionListPage): SessionView {
  const outcome = outcomes?.get(session.id);
  const wire = toWireSession(maskSession(session));
  const { summary, origin } = wire;
  const view = Object.fromEntries(VIEWED.map((field) => [field, wire[field]])) as unknown;
  return {
    ...(view as SessionView),
    summary: summary === null ? null : cutToBytes(summary, SUMMARY_BYTES),
    source: origin.source,
    sub_agent: isSubAgent(session),
    outcome: outcome === undefined ? null : toWire(OUTCOME, outcome),
  };
}

const { agent, ...where } = filterFields("list");

const INPUT = z.object({
  agent,
  title: name("Only titles that contain this.").optional(),
  ...where,
  ...TIMES,
  machine_made: z
    .boolean()
    .optional()
    .describe("Also machine-made sessions, in which only programs made requests."),
  limit: hits(DEFAULT_MCP_PAGE, `Sessions; ${DEFAULT_MCP_PAGE} if left out.`, MAX_MCP_PAGE),
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
      sessions: page.sessions.map((session) => toSessionView(session, page)),
      next_cursor: page.nextCursor ?? null,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const others = await findOthers(host);
    const page = await readPage(host, input);
    const { nextCursor } = page;
    const sessions = page.sessions.filter(others.isOther);
    const own = sessions.length < page.sessions.length ? `\n${OWN_LEFT_OUT}` : "";
    if (page.sessions.length === 0) {
      return [...(page.notes ?? []), nothing(host, input, nextCursor)].join("\n");
    }
    const now = nowOf(host);
    return fitListing(
      {
        items: sessions.map((session) => {
          return showSession(session, page, now, others.isMaybeOwn(session));
        }),
        toText: (shown, _from, to) => {
          const listed = `${quoteConversation(ABOUT_RECALLED, shown.join("\n"))}${own}`;
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

function showSession(
  session: Session,
  { outcomes, nested }: SessionListPage,
  now: number,
  isMaybeOwn: boolean,
): string {
  const outcome = outcomes?.get(session.id);
  const { subAgents = 0, repeats = [] } = nested?.get(session.id) ?? {};
  const ended = outcome === undefined ? "" : outcomeWords(outcome);
  const more = [
    ...(ended === "" ? [] : [ended]),
    ...(subAgents === 0 ? [] : [`${subAgents} sub-agents`]),
    ...(repeats.length === 0 ? [] : [`the last of ${repeats.length + 1} runs`]),
    ...(session.forkPoint === null ? [] : ["fork"]),
    ...(isMaybeOwn ? [MAYBE_OWN] : []),
    ...(isSubAgent(session) ? ["sub-agent"] : []),
  ];
  return sessionHeading(session, now, more);
}

function nothing(
  host: McpHost,
  input: z.infer<typeof INPUT>,
  nextCursor: string | undefined,
): string {
  if (nextCursor !== undefined) return `None here. More: cursor ${nextCursor}`;
  const { limit: _, cursor: __, sub_agents: ___, ...filters } = input;
  return Object.keys(filters).length === 0
    ? "There are none: nothing was stored yet."
    : `None match. Leave out a filter, or search with ${shownName(host, "search_sessions")}.`;
}

function readPage(
  { tenant, ...host }: McpHost,
  input: z.infer<typeof INPUT>,
): Promise<SessionListPage> {
  const { limit, cursor, machine_made: machineMade, sub_agents: isFlat } = input;
  return tenant.listSessions({
    ...sessionFilter("list", input, nowOf(host)),
    ...defined({ machineMade, cursor }),
    nested: isFlat !== true,
    outcomes: true,
    limit,
  });
}

const tokens = z.number();

const STANDING = z.object({
  key: z.string().nullable(),
  current: z.boolean(),
  window_tokens: tokens,
  compaction_count: tokens,
  memory_flush_at: z.string().nullable(),
  next_reset: z.object({ at: z.string(), reason: z.string() }).nullable(),
  reset_rule: z.string(),
});

const SUMMARY_CHARACTERS = 1_200;

export const getSessionMeta: Tool = defineTool({
  name: "get_session_meta",
  title: "Fields of a conversation",
  description:
    "The metadata of a conversation: title, origin, counts, summary, context size and cost. Without session_id: the counts of the whole store. Use it before you read or continue a long conversation. Not for what was done in it (recap).",
  scope: "read",
  input: z.object({ session_id: SESSION_ID.optional() }),
  example: { session_id: EXAMPLE_ID },
  output: z.object({
    about: ABOUT,
    session: WIRE_SESSION.nullable(),
    usage: shapeSchema(CONTEXT_USAGE).nullable(),
    outcome: shapeSchema(OUTCOME).nullable().describe("How it ended, as far as it shows."),
    cost_microusd: tokens
      .nullable()
      .describe("The cost of the session's calls by list prices, in millionths of a dollar."),
    standing: STANDING.nullable().describe(
      "With a gateway: the key that leads to the session, the model's window, the next reset and its reason.",
    ),
    store: shapeSchema(TENANT_STATUS)
      .nullable()
      .describe("Null for a named session, and for an empty tenant."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  run: async ({ tenant, standing }, { session_id }) => {
    const about = ABOUT_RECALLED;
    if (session_id === undefined) {
      const status = await tenant.tenantStatus();
      const store = status === undefined ? null : toWire(TENANT_STATUS, status);
      const none = {
        session: null,
        usage: null,
        outcome: null,
        cost_microusd: null,
        standing: null,
      };
      return { about, ...none, store, truncated: null };
    }
    const session = await tenant.getSession(session_id);
    const meta = await session.meta();
    const only = { session: meta.id, machineMade: true, outcomes: true };
    const outcome = (await tenant.listSessions(only)).outcomes?.get(meta.id);
    return {
      about,
      session: toWireSession(maskSession(meta)),
      usage: toWire(CONTEXT_USAGE, await session.usage()),
      outcome: outcome === undefined ? null : toWire(OUTCOME, outcome),
      cost_microusd: (await tenant.stats({ session: meta.id })).total.costMicroUsd,
      standing: standing === undefined ? null : await readStanding(standing, meta.id),
      store: null,
      truncated: null,
    };
  },
  toText: ({ about, session, usage, outcome, cost_microusd, standing, store }, host) => {
    if (session !== null && usage !== null) {
      const lines = standing === null ? [] : showStanding(standing);
      const cost = cost_microusd ? [`cost: $${(cost_microusd / 1e6).toFixed(2)}`] : [];
      const ended = outcome?.word ? [`ended: ${outcomeWords(fromWire(OUTCOME, outcome))}`] : [];
      const facts = [...showMeta(session, nowOf(host)), ...ended, ...showUsage(usage)];
      const known = [...facts, ...cost, ...lines];
      return quoteConversation(about, known.join("\n"));
    }
    if (store === null) return "Nothing was ever written.";
    return `${store.sessions} sessions, ${store.messages} messages, ${store.memories} notes, ${store.facts} facts; ${store.index.lag} changes are not in the index yet.`;
  },
});

function showMeta(session: WireSession, now: number): string[] {
  const { origin, tool_counts, summary } = session;
  const when = (time: string) => formatAgo(Date.parse(time), now);
  const tools = Object.entries(tool_counts ?? {}).sort(([, a], [, b]) => b - a);
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ["session", `${session.short_id} (${session.id})`],
    ["title", session.title === "" ? null : session.title],
    ["agent", session.agent],
    ["owner", session.owner === session.agent ? null : session.owner],
    ["project", origin.project_path],
    ["branch", origin.git_branch],
    ["repository", origin.repo],
    ["file", origin.file],
    ["begun", when(session.started_at)],
    ["last interaction", when(session.last_interaction_at)],
    ["messages", String(session.message_count)],
    ["tools", tools.length === 0 ? null : tools.map(([tool, n]) => `${tool} ${n}`).join(", ")],
    ["reported cost", session.cost_usd === null ? null : `$${session.cost_usd.toFixed(2)}`],
    [session.fork_point === null ? "started by" : "forked from", session.parent_session_id],
    ["retention", session.retention === "full" ? null : session.retention],
    ["summary", summary === null ? null : toLine(summary, SUMMARY_CHARACTERS)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${maskText(value)}`]));
}

function showUsage({
  context_tokens,
  estimated,
  compaction,
  billed,
}: WireOf<typeof CONTEXT_USAGE>): string[] {
  const { input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens } = billed;
  return [
    `context: ${context_tokens} tokens${estimated ? " (estimated)" : ""}, ${compaction === null ? "never compacted" : "compacted"}`,
    `tokens reported: ${input_tokens} in, ${output_tokens} out, ${cache_creation_tokens} cache written, ${cache_read_tokens} cache read`,
  ];
}

async function readStanding(
  standing: NonNullable<McpHost["standing"]>,
  id: string,
): Promise<z.output<typeof STANDING>> {
  const status = await standing(id);
  const { key, current, window_tokens, compaction_count, memory_flush_at } = status;
  const { next_reset, reset_rule } = status;
  return {
    key,
    current,
    window_tokens,
    compaction_count,
    memory_flush_at,
    reset_rule,
    next_reset: next_reset === null ? null : { ...next_reset },
  };
}

function showStanding(standing: z.output<typeof STANDING>): string[] {
  const { key, window_tokens, compaction_count, next_reset, reset_rule } = standing;
  return [
    `window: ${window_tokens} tokens, compactions: ${compaction_count}`,
    ...(key === null ? [] : [`key: ${key}`]),
    next_reset === null ? reset_rule : `next reset: ${next_reset.at} (${next_reset.reason})`,
  ];
}
