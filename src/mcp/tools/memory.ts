/**
 * The tools of memory: to remember a note, to recall, to search notes; and notes and facts as they
 * are shown.
 */

import { z } from "zod";
import { maskFact, maskMemory, maskText } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { shapeSchema } from "../../api/shape-schema.ts";
import { holdNotes } from "../../api/text/later.ts";
import { ABOUT_RECALLED, MEMORY_WORDS } from "../../api/text/session-heading.ts";
import { formatAgo } from "../../api/text/times.ts";
import { toWireTime } from "../../api/wire.ts";
import { quoteConversation } from "../../context/quote.ts";
import { RECALL_SCOPES, type Recalled } from "../../engine/context/recall.ts";
import { actorFor } from "../../model/access.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  DEFAULT_HITS,
  DEFAULT_MCP_LIST_TOKENS,
  DEFAULT_MCP_MESSAGE_BYTES,
  MAX_MEMORY_BYTES,
} from "../../model/limits.ts";
import { MARK, PLACE } from "../../model/mark.ts";
import { FACT, type Fact, MEMORY, type Memory } from "../../model/note.ts";
import type { Session } from "../../model/session.ts";
import { findPlace } from "../../recap/find-place.ts";
import { foundSession } from "../../recap/found-session.ts";
import { shownName } from "../agent-names.ts";
import { fitListing, readOn } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import { keepNothing } from "../own-session.ts";
import { toLine } from "../views/line.ts";
import { MESSAGE_VIEW, type MessageView, showMessage, toMessageView } from "../views/message.ts";
import { ABOUT, EXAMPLE_ID, hits, id, name, QUERY, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const { metadata: _, ...NOTE } = MEMORY;
export type MemoryView = Omit<WireOf<typeof MEMORY>, "metadata">;

export const MEMORY_VIEW: z.ZodType<MemoryView> = shapeSchema(NOTE);
const FACT_VIEW = shapeSchema(FACT);

export function toMemoryView(memory: Memory): MemoryView {
  return toWire(NOTE, maskMemory(memory));
}

function toFactView(fact: Fact): WireOf<typeof FACT> {
  return toWire(FACT, maskFact(fact));
}

export function showMemory({ agent, name, updated_at, content }: MemoryView, now: number): string {
  return `${name} [${agent}, ${formatAgo(Date.parse(updated_at), now)}]\n${content}`;
}

function showFact({ subject, predicate, object, session_id }: WireOf<typeof FACT>): string {
  return `- ${subject} · ${predicate} · ${object} [${session_id}]`;
}

/** The author of a note where neither the caller nor its token names one. */
const ANONYMOUS = "default";

const OUTPUT = z.object({
  marked: z.string().nullable().describe("The reference whose mark was set or taken back."),
  remembered: z.string().nullable(),
  agent: z.string().nullable(),
  updated_at: z.string().nullable(),
  deleted_sessions: z.number().nullable(),
  truncated: TRUNCATED,
});

export const remember: Tool = defineTool({
  name: "remember",
  title: "Keep a note",
  description: `${MEMORY_WORDS.remember} For decisions, preferences, habits. Not for what was said: that is kept, unless the user wants it forgotten or marked.`,
  scope: "write",
  // Replaces a note of the same name.
  destructive: true,
  idempotent: true,
  input: z.object({
    name: name(MEMORY_WORDS.memoryName).optional(),
    content: z
      .string()
      .min(1)
      .max(MAX_MEMORY_BYTES)
      .describe(MEMORY_WORDS.memoryContent)
      .optional(),
    agent: name("Who keeps the note; you if left out.").optional(),
    session_id: SESSION_ID.describe(
      "The note's source: its deletion with cascade deletes the note.",
    ).optional(),
    mark: id(
      "No note: what the user, not you, says no longer holds: k3f9, k3f9#12. content is why; without it the mark is taken back.",
    ).optional(),
    replaced_by: id("What holds instead.").optional(),
    accept_rule: z.string().describe("Alone, on the user's word: a candidate's entry.").optional(),
    forget_conversation: z
      .boolean()
      .describe("Alone: keep nothing of this conversation.")
      .optional(),
  }),
  example: { name: "deploys", content: "Deploys run from main, never on Fridays." },
  output: OUTPUT,
  run: async (host, { session_id: sessionId, forget_conversation: forgets, ...given }) => {
    if (forgets) {
      return keepNothingOf(host, Object.keys(given).length > 0 || sessionId !== undefined);
    }
    const { tenant, access } = host;
    const { name: called, content, mark, accept_rule: accepted } = given;
    if (mark !== undefined) {
      await setMark(host, mark, given);
      return { ...NOTHING, marked: mark };
    }
    if (accepted !== undefined) {
      if (Object.keys(given).length > 1 || sessionId !== undefined) {
        throw new BackscrollError("invalid_input", "accept_rule goes without other arguments", {
          details: { field: "accept_rule" },
        });
      }
      const { text, saidAt } = await tenant.acceptRule(accepted);
      const updated_at = toWireTime(saidAt);
      return { ...NOTHING, remembered: maskText(text), updated_at };
    }
    if (called === undefined || content === undefined) {
      const missing = called === undefined ? "name" : "content";
      throw new BackscrollError("invalid_input", `${missing} is missing`, {
        details: { field: missing },
      });
    }
    const agent = actorFor(access, given.agent) ?? ANONYMOUS;
    // Refuses unknown sessions and those of other tenants.
    const named = sessionId === undefined ? undefined : await tenant.getSessionMeta(sessionId);
    const metadata = named === undefined ? {} : { sessionId: named.id };
    const memory = await tenant.putMemory({ name: called, content, agent, metadata });
    return {
      ...NOTHING,
      remembered: memory.name,
      agent: memory.agent,
      updated_at: toWireTime(memory.updatedAt),
    };
  },
});

const NOTHING: z.output<typeof OUTPUT> = {
  marked: null,
  remembered: null,
  agent: null,
  updated_at: null,
  deleted_sessions: null,
  truncated: null,
};

interface MarkArguments {
  readonly content?: string | undefined;
  readonly replaced_by?: string | undefined;
  readonly agent?: string | undefined;
}

async function setMark(
  { tenant, access }: McpHost,
  ref: string,
  { content: reason, replaced_by: replaced, agent }: MarkArguments,
): Promise<void> {
  const { session, entryId } = await findPlace(tenant, ref);
  const what = defined({ entryId, actor: actorFor(access, agent) });
  if (reason === undefined) return session.unmark(what);
  const by = replaced === undefined ? undefined : await findPlace(tenant, replaced);
  await session.mark({
    ...what,
    reason,
    ...defined({ replacedBy: by?.entryId ?? by?.session.id }),
  });
}

/** Of the caller's own session only: no argument names another. */
async function keepNothingOf(
  { tenant, sessions = [] }: McpHost,
  hasMore: boolean,
): Promise<z.output<typeof OUTPUT>> {
  const refuse = (message: string) =>
    new BackscrollError("invalid_input", message, { details: { field: "forget_conversation" } });
  if (hasMore) throw refuse("forget_conversation goes without other arguments");
  if (sessions.length === 0) {
    throw refuse(
      "this client does not name its conversation, so it cannot be told from others; the user can: backscroll incognito SESSION, with the agent's own id of it",
    );
  }
  const deleted = await keepNothing(tenant, sessions);
  return { ...NOTHING, deleted_sessions: deleted };
}

/** The library's default number of recalled messages. */
const DEFAULT_RECALLED = 8;

/** Characters per message in a model's answer. */
const SHOWN_CHARACTERS = 600;

interface RecalledMessage {
  readonly session_id: string;
  readonly short_id: string;
  readonly score: number;
  readonly message: MessageView;
  readonly superseded_by: WireOf<typeof PLACE> | null;
  readonly mark: WireOf<typeof MARK> | null;
}

export const recall: Tool = defineTool({
  name: "recall",
  title: "Recall from a conversation",
  description:
    "Single messages and facts of one conversation that bear on a question, the best first. Use it to look something up in a session that you know. Not to find a session (search_sessions).",
  scope: "read",
  input: z.object({
    session_id: SESSION_ID,
    query: QUERY,
    k: hits(DEFAULT_RECALLED, `Messages and facts together; ${DEFAULT_RECALLED} if left out.`),
    scope: z
      .enum(RECALL_SCOPES)
      .default("session")
      .describe("This session, all of its owner's, or all; session if left out."),
  }),
  example: { session_id: EXAMPLE_ID, query: "cron lock", scope: "session" },
  output: z.object({
    about: ABOUT,
    messages: z.array(
      z.object({
        session_id: z.string(),
        short_id: z.string(),
        score: z.number(),
        message: MESSAGE_VIEW,
        superseded_by: shapeSchema(PLACE).nullable(),
        mark: shapeSchema(MARK).nullable(),
      }),
    ),
    facts: z.array(FACT_VIEW),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "k",
  cuts: [512],
  run: async ({ tenant }, { session_id, query, k, scope }) => {
    const session = await tenant.getSession(session_id);
    const messages: RecalledMessage[] = [];
    const facts: WireOf<typeof FACT>[] = [];
    for await (const item of session.recall(query, { k, scope })) {
      if (item.type === "fact") facts.push(toFactView(item.fact));
      else {
        const message = toMessageView(item.entry, DEFAULT_MCP_MESSAGE_BYTES);
        const of = await foundSession(tenant, item.entry.sessionId);
        if (of === undefined) continue;
        const { supersededBy, mark } = item;
        messages.push({
          session_id: of.id,
          short_id: of.shortId,
          score: item.score,
          message,
          superseded_by: supersededBy === undefined ? null : toWire(PLACE, supersededBy),
          mark: mark === undefined ? null : toWire(MARK, mark),
        });
      }
    }
    return { about: ABOUT_RECALLED, messages, facts, truncated: null };
  },
  show: async (host, { session_id, query, k, scope }, maxBytes) => {
    const { tenant } = host;
    const session = await tenant.getSession(session_id);
    const items: string[] = [];
    let on = "";
    for await (const item of session.recall(query, { k, scope })) {
      if (item.type === "fact") {
        items.push(showFact(toFactView(item.fact)));
        continue;
      }
      const of = await foundSession(tenant, item.entry.sessionId);
      if (of === undefined) continue;
      items.push(showRecalled(item, of));
      on ||= ` ${readOn(host, of.shortId, item.entry.index)}`;
    }
    if (items.length === 0)
      return `Nothing was found. ${shownName(host, "search_sessions")} looks into all sessions.`;
    return fitListing(
      {
        items,
        toText: (shown) => {
          const left = items.length - shown.length;
          const more = left === 0 ? "" : ` ${left} more do not fit into max_tokens.`;
          const notes = `${more}${on}`.trim();
          return [quoteConversation(ABOUT_RECALLED, shown.join("\n")), notes].join("\n").trim();
        },
      },
      maxBytes,
    );
  },
});

/** `k3f9#12 user: …`, as one line. */
function showRecalled(
  { entry, ...item }: Recalled & { readonly type: "message" },
  { shortId, agent, origin }: Session,
): string {
  const message = showMessage(entry, { agent, project: origin.projectPath });
  const notes = holdNotes(item, entry.sessionId).map((note) => ` (${note})`);
  return `${shortId}${toLine(message, SHOWN_CHARACTERS)}${notes.join("")}`;
}

export const searchMemory: Tool = defineTool({
  name: "search_memory",
  title: "Search notes",
  description: `${MEMORY_WORDS.searchMemory} Notes come from remember, and from agents' own memory files. Not for what was said in conversations (search_sessions).`,
  scope: "read",
  input: z.object({
    query: QUERY,
    agent: name("Only the notes of this agent; of all agents if left out.").optional(),
    limit: hits(DEFAULT_HITS, MEMORY_WORDS.hits),
  }),
  example: { query: "deploys", limit: 5 },
  output: z.object({ about: ABOUT, memories: z.array(MEMORY_VIEW), truncated: TRUNCATED }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "limit",
  run: async ({ tenant }, { query, agent, limit }) => {
    const scope = agent === undefined ? {} : { agent };
    const memories = await tenant.searchMemory(query, { limit, ...scope });
    return { about: ABOUT_RECALLED, memories: memories.map(toMemoryView), truncated: null };
  },
  toText: ({ about, memories }, host) =>
    memories.length === 0
      ? "Nothing was found."
      : quoteConversation(
          about,
          memories.map((memory) => showMemory(memory, nowOf(host))).join("\n\n"),
        ),
});
