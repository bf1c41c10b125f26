/** Schemas of search results. */

import { z } from "zod";
import type { WireHit, WireSearchResult, WireWindowItem } from "../../api/search.ts";
import { BackscrollError } from "../../model/errors.ts";
import { HIT_BRANCHES } from "../../model/inputs/choices.ts";
import { count, time } from "./common.ts";

const text = z.string();
const textOrNull = text.nullable();

/** Search parameters, with the same names in a query string and in a body. */
export const asked: {
  readonly query: z.ZodOptional<z.ZodString>;
  readonly q: z.ZodOptional<z.ZodString>;
} = {
  query: text.optional().meta({
    description: "Required, here or as q. Any text is a valid query.",
  }) as z.ZodOptional<z.ZodString>,
  q: text.optional().meta({ description: "Short for query." }) as z.ZodOptional<z.ZodString>,
};

/**
 * Splits the query from the other options. Throws `invalid_input` unless exactly one name is given.
 */
export function splitQuery<Options extends { query?: string | undefined; q?: string | undefined }>(
  fields: Options,
): { readonly query: string; readonly options: Omit<Options, "query" | "q"> } {
  const { query, q, ...options } = fields;
  if ((query === undefined) === (q === undefined)) {
    const what = query === undefined ? "query is missing" : "query and q are the same";
    throw new BackscrollError("invalid_input", `${what}: give one of query and q`, {
      details: { field: "query" },
    });
  }
  return { query: query ?? q ?? "", options };
}

export const windowItem: z.ZodType<WireWindowItem> = z
  .object({
    entry_id: text,
    msg_idx: count,
    role: textOrNull,
    actor: textOrNull,
    created_at: time,
    snippet: text,
    truncated: z.boolean(),
    tool_name: textOrNull,
    matches: z
      .array(z.object({ start: count, end: count }))
      .meta({ description: "Where the snippet matches, in UTF-16 units." }),
    found: z.boolean().meta({ description: "Whether this is the message that was found." }),
  })
  .meta({ id: "WindowItem" });

export const hit: z.ZodType<WireHit> = z
  .object({
    session_id: text,
    short_id: text,
    meta: z.object({
      title: text,
      agent: text,
      created_at: time,
      updated_at: time,
      message_count: count,
      late_branches: count.meta({
        description: "Late files of the session, which are on branches.",
      }),
    }),
    entry_id: textOrNull,
    msg_idx: count.nullable(),
    leaf: textOrNull,
    branch: z
      .enum(HIT_BRANCHES)
      .nullable()
      .meta({ description: "Null on the active path. late: of a file that came late." }),
    score: z.number(),
    similarity: z.number().nullable().meta({
      description: "The cosine with the query. Null: searched by words only.",
    }),
    window: z.array(windowItem),
    parts: z.unknown().meta({ description: "The parts of the score, with `explain`." }),
  })
  .meta({ id: "Hit" });

export const searchResult: z.ZodType<WireSearchResult> = z
  .object({
    hits: z.array(hit),
    notes: z.array(text).meta({ description: "How the query was interpreted, for a person." }),
    indexing: z.boolean(),
    degraded: z.boolean(),
    partial: z.boolean().meta({ description: "The time ran out: there may be better hits." }),
    explanation: z.unknown(),
  })
  .meta({ id: "SearchResult" });
