/** What a search found, as it is shown to a model: the hit and the messages round it. */

import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { toWireSearchResult, type WireHit, type WireWindowItem } from "../../api/search.ts";
import type { SearchResult } from "../../engine/search.ts";

export type HitView = Omit<WireHit, "window" | "parts"> & {
  readonly window: readonly Omit<WireWindowItem, "matches">[];
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
  }),
  entry_id: text,
  msg_idx: z.number().int().nullable(),
  leaf: text,
  score: z.number(),
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

export function toHitViews(result: SearchResult): readonly HitView[] {
  return toWireSearchResult(result).hits.map(({ parts: _, window, meta, ...hit }) => ({
    ...hit,
    meta: { ...meta, title: maskText(meta.title) },
    window: window.map(({ matches: _matches, ...item }) => item),
  }));
}

/** The found message is marked by an arrow. */
export function showHit(hit: HitView, index: number): string {
  const { title, agent, updated_at } = hit.meta;
  const heading = `${index + 1}. session ${hit.short_id}  ${title === "" ? "(no title)" : title}  [${agent}, ${updated_at}]`;
  const lines = hit.window.map((item) => {
    const who = item.actor ?? item.role ?? "";
    const tool = item.tool_name === null ? "" : ` (${item.tool_name})`;
    return `${item.found ? "→" : " "} #${item.msg_idx} ${who}${tool}: ${item.snippet}${item.truncated ? "…" : ""}`;
  });
  return [heading, ...lines].join("\n");
}
