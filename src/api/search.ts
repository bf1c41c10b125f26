/** What a search found, on the wire. */

import type { SearchResult } from "../engine/search.ts";
import type { SearchHit, WindowItem } from "../search/request.ts";
import { toWireTime } from "./wire.ts";

export interface WireSearchResult {
  readonly hits: readonly WireHit[];
  readonly notes: readonly string[];
  readonly indexing: boolean;
  readonly degraded: boolean;
  readonly partial: boolean;
  readonly explanation: unknown;
}

export interface WireHit {
  readonly session_id: string;
  readonly meta: {
    readonly title: string;
    readonly agent: string;
    readonly created_at: string;
    readonly updated_at: string;
    readonly message_count: number;
  };
  readonly entry_id: string | null;
  readonly msg_idx: number | null;
  readonly leaf: string | null;
  readonly score: number;
  readonly window: readonly WireWindowItem[];
  readonly parts: unknown;
}

export interface WireWindowItem {
  readonly entry_id: string;
  readonly msg_idx: number;
  readonly role: string | null;
  readonly actor: string | null;
  readonly created_at: string;
  readonly snippet: string;
  readonly truncated: boolean;
  readonly tool_name: string | null;
  readonly matches: readonly { readonly start: number; readonly end: number }[];
  readonly found: boolean;
}

export function toWireSearchResult(result: SearchResult): WireSearchResult {
  const { hits, notes, indexing, degraded, partial, explanation } = result;
  return {
    hits: hits.map(toWireHit),
    notes,
    indexing,
    degraded,
    partial,
    explanation:
      explanation === undefined
        ? null
        : {
            terms: explanation.terms,
            documents: explanation.documents,
            average_length: explanation.averageLength,
            segments: explanation.segments,
            candidates: explanation.candidates,
          },
  };
}

function toWireHit(hit: SearchHit): WireHit {
  const { title, agent, createdAt, updatedAt, messageCount } = hit.meta;
  return {
    session_id: hit.sessionId,
    meta: {
      title,
      agent,
      created_at: toWireTime(createdAt),
      updated_at: toWireTime(updatedAt),
      message_count: messageCount,
    },
    entry_id: hit.entryId,
    msg_idx: hit.index,
    leaf: hit.leaf,
    score: hit.score,
    window: hit.window.map(toWireWindowItem),
    parts: hit.parts ?? null,
  };
}

export function toWireWindowItem(item: WindowItem): WireWindowItem {
  return {
    entry_id: item.entryId,
    msg_idx: item.index,
    role: item.role,
    actor: item.actor,
    created_at: toWireTime(item.createdAt),
    snippet: item.snippet,
    truncated: item.truncated,
    tool_name: item.toolName,
    matches: item.matches,
    found: item.found,
  };
}
