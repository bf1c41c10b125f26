/** Contexts, compactions, summaries, usage and recalled messages in answers. */

import { z } from "zod";
import { count, jsonValue, time } from "./common.ts";
import { block, entry } from "./entry.ts";
import { fact } from "./note.ts";
import { windowItem } from "./search.ts";
import { usage } from "./session.ts";

const text = z.string();
const textOrNull = text.nullable();

export const context: z.ZodType = z
  .object({
    messages: z.array(
      z.object({
        role: text,
        actor: textOrNull,
        part: text,
        blocks: z.array(block),
        entry_ids: z.array(text),
        model: textOrNull,
        aborted: z.boolean(),
      }),
    ),
    omitted: z.array(z.looseObject({})).meta({ description: "Omitted parts, with reasons." }),
    tokens: count,
    shortened: count,
    rendered: jsonValue.meta({ description: "The provider's own shape; null without `provider`." }),
  })
  .meta({ id: "Context" });

export const compaction: z.ZodType = z
  .object({
    entry: entry.nullable(),
    summary: textOrNull,
    removed: count,
    first_kept_entry_id: textOrNull,
    tokens_before: count,
    tokens_after: count,
    erased: count,
  })
  .meta({ id: "Compaction" });

export const summary: z.ZodType = z
  .object({
    id: text,
    kind: z.enum(["summary", "compaction"]),
    from: text,
    through: text,
    text,
    model: textOrNull,
    tokens: count,
    parent: textOrNull,
    level: count,
    stale: z.boolean(),
    created_at: time,
  })
  .meta({ id: "Summary" });

export const summaries: z.ZodType = z
  .object({ summaries: z.array(summary) })
  .meta({ id: "SummaryList" });

export const contextUsage: z.ZodType = z
  .object({
    context_tokens: count,
    estimated_tokens: count,
    estimated: z.boolean(),
    reported_by: textOrNull,
    compaction: textOrNull,
    billed: usage,
  })
  .meta({ id: "ContextUsage" });

export const recalled: z.ZodType = z
  .object({
    items: z.array(
      z.union([
        z.object({
          type: z.literal("message"),
          entry,
          score: z.number(),
          window: z.array(windowItem),
        }),
        z.object({ type: z.literal("fact"), fact }),
      ]),
    ),
  })
  .meta({ id: "Recalled" });
