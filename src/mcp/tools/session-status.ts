import { z } from "zod";
import { toWireContextUsage, type WireContextUsage } from "../../api/context.ts";
import { toWireTenantStatus, type WireTenantStatus } from "../../api/status.ts";
import type { McpHost } from "../host.ts";
import { SESSION_VIEW, type SessionView, toSessionView } from "../views/session-view.ts";
import { EXAMPLE_ID, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const tokens = z.number();
const limit = z.number().nullable();

const USAGE: z.ZodType<WireContextUsage> = z.object({
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

const STORE: z.ZodType<WireTenantStatus> = z.object({
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

export const sessionStatus: Tool = defineTool({
  name: "session_status",
  title: "How a conversation stands",
  description:
    "How full a conversation's context is, what it has cost, and when it was last compacted. Without session_id: what the whole store holds.",
  scope: "read",
  input: z.object({ session_id: SESSION_ID.optional() }),
  example: { session_id: EXAMPLE_ID },
  output: z.object({
    session: SESSION_VIEW.nullable(),
    usage: USAGE.nullable(),
    standing: STANDING.nullable().describe(
      "With the gateway: the key that leads to it, its window, when and why it is reset next.",
    ),
    store: STORE.nullable().describe("Null if a session was named, or nothing was ever written."),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant, standing }, { session_id }) => {
    if (session_id === undefined) {
      const status = await tenant.tenantStatus();
      const store = status === undefined ? null : toWireTenantStatus(status);
      return { session: null, usage: null, standing: null, store, truncated: null };
    }
    const session = await tenant.getSession(session_id);
    const [meta, usage] = [await session.meta(), await session.usage()];
    return {
      session: toSessionView(meta),
      usage: toWireContextUsage(usage),
      standing: standing === undefined ? null : await readStanding(standing, session_id),
      ...{ store: null, truncated: null },
    };
  },
  toText: ({ session, usage, standing, store }) => {
    if (session !== null && usage !== null) {
      const lines = standing === null ? [] : showStanding(standing);
      return [showStatus(session, usage), ...lines].join("\n");
    }
    if (store === null) return "Nothing was ever written.";
    return `${store.sessions} sessions, ${store.messages} messages, ${store.memories} notes, ${store.facts} facts; ${store.index.lag} changes are not in the index yet.`;
  },
});

async function readStanding(
  standing: NonNullable<McpHost["standing"]>,
  id: string,
): Promise<z.output<typeof STANDING>> {
  const status = await standing(id);
  const { key, current, window_tokens, compaction_count, memory_flush_at } = status;
  const { next_reset, reset_rule } = status;
  return {
    ...{ key, current, window_tokens, compaction_count, memory_flush_at, reset_rule },
    next_reset: next_reset === null ? null : { ...next_reset },
  };
}

function showStanding(standing: z.output<typeof STANDING>): string[] {
  const { key, window_tokens, compaction_count, next_reset, reset_rule } = standing;
  return [
    `Window: ${window_tokens} tokens. Compactions: ${compaction_count}.`,
    ...(key === null ? [] : [`Key: ${key}.`]),
    next_reset === null ? reset_rule : `Next reset: ${next_reset.at} (${next_reset.reason}).`,
  ];
}

function showStatus(session: SessionView, usage: WireContextUsage): string {
  const { input_tokens, output_tokens } = usage.billed;
  return [
    `Session ${session.id}: ${session.message_count} messages, written last at ${session.updated_at}.`,
    `Context: ${usage.context_tokens} tokens${usage.estimated ? " (estimated)" : ""}.`,
    `Reported so far: ${input_tokens} in, ${output_tokens} out.`,
    usage.compaction === null ? "Never compacted." : `Compacted: entry ${usage.compaction}.`,
  ].join("\n");
}
