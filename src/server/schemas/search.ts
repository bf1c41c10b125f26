/** What a search found. */

import { z } from "zod";
import type { WireHit, WireSearchResult, WireWindowItem } from "../../api/search.ts";
import { count, time } from "./common.ts";

const text = z.string();
const textOrNull = text.nullable();

export const windowItem: z.ZodType<WireWindowItem> = z
  .object({
    ...{ entry_id: text, msg_idx: count, role: textOrNull, actor: textOrNull, created_at: time },
    ...{ snippet: text, truncated: z.boolean(), tool_name: textOrNull },
    matches: z
      .array(z.object({ start: count, end: count }))
      .meta({ description: "Where the snippet matches, in UTF-16 units." }),
    found: z.boolean().meta({ description: "Whether this is the message that was found." }),
  })
  .meta({ id: "WindowItem" });

const hit: z.ZodType<WireHit> = z
  .object({
    session_id: text,
    short_id: text,
    meta: z.object({
      ...{ title: text, agent: text, created_at: time, updated_at: time, message_count: count },
    }),
    ...{ entry_id: textOrNull, msg_idx: count.nullable(), leaf: textOrNull },
    score: z.number(),
    window: z.array(windowItem),
    parts: z.unknown().meta({ description: "What the score is made of, if that was asked for." }),
  })
  .meta({ id: "Hit" });

export const searchResult: z.ZodType<WireSearchResult> = z
  .object({
    hits: z.array(hit),
    notes: z.array(text).meta({ description: "What was made of the query, for a person." }),
    indexing: z.boolean(),
    degraded: z.boolean(),
    partial: z.boolean().meta({ description: "The time ran out: there may be better hits." }),
    explanation: z.unknown(),
  })
  .meta({ id: "SearchResult" });
