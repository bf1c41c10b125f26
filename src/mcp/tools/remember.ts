import { z } from "zod";
import { MEMORY_WORDS } from "../../api/memory-words.ts";
import { toWireTime } from "../../api/wire.ts";
import { actorFor } from "../../model/access.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_MEMORY_BYTES } from "../../model/limits.ts";
import type { McpHost } from "../host.ts";
import { keepNothing } from "../own-session.ts";
import { name, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

/** The author of a note where neither the caller nor its token names one. */
const ANONYMOUS = "default";

const OUTPUT = z.object({
  remembered: z.string().nullable(),
  agent: z.string().nullable(),
  updated_at: z.string().nullable(),
  deleted_sessions: z.number().nullable(),
  truncated: TRUNCATED,
});

export const remember: Tool = defineTool({
  name: "remember",
  title: "Keep a note",
  description: `${MEMORY_WORDS.remember} For decisions, preferences, habits. Not for what was said: that is kept, unless the user wants it forgotten.`,
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
    const { name: called, content } = given;
    if (called === undefined || content === undefined) {
      const missing = called === undefined ? "name" : "content";
      throw new BackscrollError("invalid_input", `${missing} is missing`, {
        details: { field: missing },
      });
    }
    const input = { ...given, name: called, content };
    const agent = actorFor(access, input.agent) ?? ANONYMOUS;
    // Refuses unknown sessions and those of other tenants.
    const named = sessionId === undefined ? undefined : await tenant.getSessionMeta(sessionId);
    const metadata = named === undefined ? {} : { sessionId: named.id };
    const memory = await tenant.putMemory({ ...input, agent, metadata });
    return {
      remembered: memory.name,
      agent: memory.agent,
      updated_at: toWireTime(memory.updatedAt),
      deleted_sessions: null,
      truncated: null,
    };
  },
});

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
  const none = { remembered: null, agent: null, updated_at: null, truncated: null };
  return { ...none, deleted_sessions: deleted };
}
