import { z } from "zod";
import { fromWireMessage } from "../../api/message-input.ts";
import { actorFor } from "../../model/access.ts";
import { ROLES } from "../../model/entry.ts";
import { MAX_BLOCKS, MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { EXAMPLE_ID, id, name, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const TOKENS = z.number().int().min(0).optional();

export const appendMessage: Tool = defineTool({
  name: "append_message",
  title: "Append a message",
  description:
    "Append a message to a conversation that your host keeps here. It is stored for good; nothing is overwritten. Not for notes (remember), nor for what a coding agent writes down itself: that is read from its transcripts.",
  scope: "write",
  input: z.object({
    session_id: SESSION_ID,
    role: z.enum(ROLES),
    content: z.string().max(MAX_CONTENT_BYTES).optional().describe("The text."),
    actor: name("The author; you if left out.").optional(),
    tool_calls: z
      .array(z.object({ id: name("Of the call."), name: name("Of the tool."), input: z.json() }))
      .max(MAX_BLOCKS)
      .optional(),
    tool_results: z
      .array(
        z.object({
          id: name("Of the call."),
          name: name("Of the tool.").optional(),
          output: z.string().max(MAX_CONTENT_BYTES),
          is_error: z.boolean().optional(),
        }),
      )
      .max(MAX_BLOCKS)
      .optional(),
    model: name("The model that wrote it.").optional(),
    usage: z
      .object({
        input_tokens: TOKENS,
        output_tokens: TOKENS,
        cache_creation_tokens: TOKENS,
        cache_read_tokens: TOKENS,
      })
      .optional(),
    idempotency_key: name("The same call under the same key is carried out once.").optional(),
    expected_leaf: id("Fails with stale_leaf unless this entry is the newest.").optional(),
  }),
  example: { session_id: EXAMPLE_ID, role: "user", content: "The cron lock is gone." },
  output: z.object({
    session_id: z.string(),
    entry_id: z.string(),
    msg_idx: z.number().int().nullable(),
    truncated: TRUNCATED,
  }),
  run: async ({ tenant, access }, input) => {
    const { session_id, idempotency_key, expected_leaf, actor: named, ...message } = input;
    const actor = actorFor(access, named);
    const given = { ...message, ...(actor === undefined ? {} : { actor }) };
    const session = await tenant.getSession(session_id);
    const entries = await session.append([fromWireMessage(withoutUndefined(given))], {
      ...(idempotency_key === undefined ? {} : { idempotencyKey: idempotency_key }),
      ...(expected_leaf === undefined ? {} : { expectedLeaf: expected_leaf }),
    });
    const [entry] = entries;
    return {
      session_id,
      entry_id: entry?.id ?? "",
      msg_idx: entry?.index ?? null,
      truncated: null,
    };
  },
});

function withoutUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
