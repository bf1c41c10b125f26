/** Entries and their blocks, in answers and requests. */

import { z } from "zod";
import type { WireBlock } from "../../api/block.ts";
import { MESSAGE_ROLES, ROLES } from "../../model/entry.ts";
import { count, jsonObject, jsonValue, key, timeInput } from "./common.ts";

const text = z.string();

/** A provider's fields keep their own names. */
export const block: z.ZodType<WireBlock> = z
  .looseObject({
    type: text,
    input: jsonValue.optional().meta({
      description:
        "Of a `tool_use`: its arguments. A string if they are no JSON object or list; `input_text` has them as they were written where printing would give another text.",
    }),
  })
  .meta({ id: "Block" }) as unknown as z.ZodType<WireBlock>;

export const role: z.ZodType<"user" | "assistant" | "system" | "tool"> = z.enum(ROLES);

/** Text or blocks. The library checks blocks and names the wrong field. */
export const content: z.ZodType = z
  .union([text, z.array(z.looseObject({ type: text }))])
  .meta({ id: "Content", description: "Text, or a list of blocks." });

export const usageInput: z.ZodType = z
  .strictObject({
    input_tokens: count.optional(),
    output_tokens: count.optional(),
    cache_creation_tokens: count.optional(),
    cache_read_tokens: count.optional(),
  })
  .meta({ id: "UsageInput" });

const messageFields = {
  role: z.enum(MESSAGE_ROLES),
  actor: key.optional(),
  content: content.optional(),
  tool_calls: z
    .array(z.looseObject({ id: text, name: text }))
    .optional()
    .meta({ description: "Calls beside the content: `id`, `name` and `input`." }),
  tool_results: z
    .array(z.looseObject({ id: text }))
    .optional()
    .meta({ description: "Results of calls: `id`, `output`, and `is_error` if it failed." }),
  usage: usageInput.optional(),
  context_window: count.optional(),
  model: key.optional(),
  adapter: key.optional(),
  metadata: jsonObject.optional(),
  created_at: timeInput.optional(),
  interaction: z.boolean().optional(),
  external_id: key.optional().meta({
    description: "The writer's own id, unique in the session. A message that is there is kept.",
  }),
  raw: jsonValue.optional().meta({ description: "Kept as it is, and never searched." }),
};

/** Parsed by `fromWireMessage`, which gives the library's errors. */
export const messageInput: z.ZodType = z.strictObject(messageFields).meta({ id: "MessageInput" });

const writerFields = {
  external_id: messageFields.external_id,
  created_at: messageFields.created_at,
};

const { tool_results: _, ...plainFields } = messageFields;

/** Parsed by `fromWireEntryInput`. The default kind is a message. */
export const entryInput: z.ZodType = z
  .union([
    z.strictObject({
      kind: z.literal("custom"),
      type: key,
      data: jsonValue,
      ...writerFields,
    }),
    z.strictObject({
      kind: z.literal("custom_message"),
      type: key,
      content,
      display: z.boolean().optional(),
      metadata: jsonObject.optional(),
      ...writerFields,
    }),
    z.strictObject({ kind: z.literal("message").optional(), ...plainFields }),
  ])
  .meta({ id: "EntryInput" });
