/** A hit as data: the match and the messages around it. */

import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import type { SearchResult } from "../../engine/search.ts";
import { SEARCH_HIT, type WINDOW_ITEM } from "../../model/answers/context.ts";
import { HIT_BRANCHES } from "../../model/inputs/choices.ts";
import type { SearchHit } from "../../search/request.ts";

export type HitView = Omit<WireOf<typeof SEARCH_HIT>, "window" | "parts"> & {
  readonly window: readonly Omit<WireOf<typeof WINDOW_ITEM>, "matches">[];
  /** True for hits of the newest session, if the caller's own is unknown. */
  readonly newest: boolean;
};

const text = z.string().nullable();

export const HIT_VIEW: z.ZodType<HitView> = z.object({
  session_id: z.string(),
  short_id: z.string(),
  meta: z.object({
    title: z.string(),
    agent: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    message_count: z.number().int(),
    late_branches: z.number().int(),
  }),
  entry_id: text,
  msg_idx: z.number().int().nullable(),
  leaf: text,
  branch: z.enum(HIT_BRANCHES).nullable().describe("Null on the active path."),
  score: z.number(),
  similarity: z.number().nullable(),
  newest: z.boolean().describe("Of the newest session here, which may be the one you speak in."),
  window: z.array(
    z.object({
      entry_id: z.string(),
      msg_idx: z.number().int(),
      role: text,
      actor: text,
      created_at: z.string(),
      snippet: z.string(),
      truncated: z.boolean(),
      tool_name: text,
      found: z.boolean(),
    }),
  ),
});

export function toHitViews(result: SearchResult, newest?: string): readonly HitView[] {
  return result.hits.map((hit) => toHitView(hit, newest));
}

export function toHitView(found: SearchHit, newest?: string): HitView {
  const { parts: _, window, meta, ...hit } = toWire(SEARCH_HIT, found);
  return {
    ...hit,
    newest: hit.session_id === newest,
    meta: { ...meta, title: maskText(meta.title) },
    window: window.map(({ matches: _matches, ...item }) => item),
  };
}
