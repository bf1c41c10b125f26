import { z } from "zod";
import { maskSession, maskText } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { toWireSession, type WireSession } from "../../api/session.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { formatAgo } from "../../api/text/age.ts";
import { quoteConversation } from "../../context/quote.ts";
import { CONTEXT_USAGE } from "../../model/answers/context.ts";
import { TENANT_STATUS } from "../../model/answers/store.ts";
import { DEFAULT_MCP_HIT_TOKENS } from "../../model/limits.ts";
import { type McpHost, nowOf } from "../host.ts";
import { toLine } from "../views/line.ts";
import { WIRE_SESSION } from "../views/session-view.ts";
import { ABOUT, EXAMPLE_ID, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const tokens = z.number();
const limit = z.number().nullable();

const USAGE: z.ZodType<WireOf<typeof CONTEXT_USAGE>> = z.object({
  context_tokens: tokens,
  estimated_tokens: tokens,
  estimated: z.boolean(),
  reported_by: z.string().nullable(),
  compaction: z.string().nullable(),
  billed: z.object({
    input_tokens: tokens,
    output_tokens: tokens,
    cache_creation_tokens: tokens,
    cache_read_tokens: tokens,
  }),
});

const STORE: z.ZodType<WireOf<typeof TENANT_STATUS>> = z.object({
  tenant: z.string(),
  sessions: z.number(),
  entries: z.number(),
  messages: z.number(),
  content_bytes: z.number(),
  pending: z.number(),
  memories: z.number(),
  facts: z.number(),
  feed_position: z.number(),
  feed_head: z.string(),
  index: z.object({
    lag: z.number(),
    segments: z.number(),
    documents: z.number(),
    bytes: z.number(),
    vectors: z
      .object({
        embedder: z.string(),
        dimensions: z.number(),
        through: z.number(),
        lag: z.number(),
        gaps: z.array(z.object({ from: z.number(), to: z.number() })),
        vectors: z.number(),
        segments: z.number(),
        bytes: z.number(),
      })
      .nullable(),
  }),
  quota: z.object({ max_sessions: limit, max_entries: limit, max_content_bytes: limit }),
});

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
    usage: USAGE.nullable(),
    cost_microusd: tokens
      .nullable()
      .describe("The cost of the session's calls by list prices, in millionths of a dollar."),
    standing: STANDING.nullable().describe(
      "With a gateway: the key that leads to the session, the model's window, the next reset and its reason.",
    ),
    store: STORE.nullable().describe("Null for a named session, and for an empty tenant."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  run: async ({ tenant, standing }, { session_id }) => {
    const about = ABOUT_RECALLED;
    if (session_id === undefined) {
      const status = await tenant.tenantStatus();
      const store = status === undefined ? null : toWire(TENANT_STATUS, status);
      const none = { session: null, usage: null, cost_microusd: null, standing: null };
      return { about, ...none, store, truncated: null };
    }
    const session = await tenant.getSession(session_id);
    const meta = await session.meta();
    return {
      about,
      session: toWireSession(maskSession(meta)),
      usage: toWire(CONTEXT_USAGE, await session.usage()),
      cost_microusd: (await tenant.stats({ session: meta.id })).total.costMicroUsd,
      standing: standing === undefined ? null : await readStanding(standing, meta.id),
      store: null,
      truncated: null,
    };
  },
  toText: ({ about, session, usage, cost_microusd, standing, store }, host) => {
    if (session !== null && usage !== null) {
      const lines = standing === null ? [] : showStanding(standing);
      const cost = cost_microusd ? [`cost: $${(cost_microusd / 1e6).toFixed(2)}`] : [];
      const known = [...showSession(session, nowOf(host)), ...showUsage(usage), ...cost, ...lines];
      return quoteConversation(about, known.join("\n"));
    }
    if (store === null) return "Nothing was ever written.";
    return `${store.sessions} sessions, ${store.messages} messages, ${store.memories} notes, ${store.facts} facts; ${store.index.lag} changes are not in the index yet.`;
  },
});

function showSession(session: WireSession, now: number): string[] {
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
    ["forked from", session.parent_session_id],
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
