import { z } from "zod";
import { MEMORY_WORDS } from "../../api/memory-words.ts";
import { toWireTime } from "../../api/wire.ts";
import { actorFor } from "../../model/access.ts";
import { MAX_MEMORY_BYTES } from "../../model/limits.ts";
import { name, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

/** The author of a note where neither the caller nor its token names one. */
const ANONYMOUS = "default";

export const remember: Tool = defineTool({
  name: "remember",
  title: "Keep a note",
  description: `${MEMORY_WORDS.remember} For what should outlast this conversation: decisions, preferences, how things are done. Not for what was said: conversations are kept anyway.`,
  scope: "write",
  // Replaces a note of the same name.
  destructive: true,
  idempotent: true,
  input: z.object({
    name: name(MEMORY_WORDS.memoryName),
    content: z.string().min(1).max(MAX_MEMORY_BYTES).describe(MEMORY_WORDS.memoryContent),
    agent: name("The agent that keeps the note; you if left out.").optional(),
    session_id: SESSION_ID.describe(
      "The note's source: deleting that session with its derivatives deletes the note.",
    ).optional(),
  }),
  example: { name: "deploys", content: "Deploys run from main, never on Fridays." },
  output: z.object({
    remembered: z.string(),
    agent: z.string(),
    updated_at: z.string(),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant, access }, { session_id: sessionId, ...input }) => {
    const agent = actorFor(access, input.agent) ?? ANONYMOUS;
    // Refuses unknown sessions and those of other tenants.
    const named = sessionId === undefined ? undefined : await tenant.getSessionMeta(sessionId);
    const metadata = named === undefined ? {} : { sessionId: named.id };
    const memory = await tenant.putMemory({ ...input, agent, metadata });
    return {
      remembered: memory.name,
      agent: memory.agent,
      updated_at: toWireTime(memory.updatedAt),
      truncated: null,
    };
  },
});
