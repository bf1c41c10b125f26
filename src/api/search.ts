/** Search results on the wire. */

import type { SearchResult } from "../engine/search.ts";
import type { SearchExplanation, SearchHit, WindowItem } from "../search/request.ts";
import { fromWireTime, toWireTime } from "./wire.ts";

export interface WireSearchResult {
  readonly hits: readonly WireHit[];
  readonly notes: readonly string[];
  readonly indexing: boolean;
  readonly degraded: boolean;
  readonly partial: boolean;
  readonly explanation: unknown;
}

interface WireExplanation {
  readonly terms: SearchExplanation["terms"];
  readonly documents: number;
  readonly average_length: number;
  readonly segments: number;
  readonly candidates: number;
}

export interface WireHit {
  readonly session_id: string;
  readonly short_id: string;
  readonly meta: {
    readonly title: string;
    readonly agent: string;
    readonly created_at: string;
    readonly updated_at: string;
    readonly message_count: number;
    readonly late_branches: number;
  };
  readonly entry_id: string | null;
  readonly msg_idx: number | null;
  readonly leaf: string | null;
  readonly branch: SearchHit["branch"];
  readonly score: number;
  readonly similarity: number | null;
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

export function toWireHit(hit: SearchHit): WireHit {
  const { title, agent, createdAt, updatedAt, messageCount, lateBranches } = hit.meta;
  return {
    session_id: hit.sessionId,
    short_id: hit.shortId,
    meta: {
      title,
      agent,
      created_at: toWireTime(createdAt),
      updated_at: toWireTime(updatedAt),
      message_count: messageCount,
      late_branches: lateBranches,
    },
    entry_id: hit.entryId,
    msg_idx: hit.index,
    leaf: hit.leaf,
    branch: hit.branch,
    score: hit.score,
    similarity: hit.similarity ?? null,
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

export function fromWireSearchResult(result: WireSearchResult): SearchResult {
  const { hits, notes, indexing, degraded, partial, explanation } = result;
  return {
    hits: hits.map(fromWireHit),
    notes,
    indexing,
    degraded,
    partial,
    ...(explanation === null
      ? {}
      : { explanation: fromWireExplanation(explanation as WireExplanation) }),
  };
}

function fromWireExplanation({
  average_length: averageLength,
  ...same
}: WireExplanation): SearchExplanation {
  return { ...same, averageLength };
}

export function fromWireHit(hit: WireHit): SearchHit {
  const { title, agent, created_at, updated_at, message_count, late_branches } = hit.meta;
  return {
    sessionId: hit.session_id,
    shortId: hit.short_id ?? hit.session_id,
    meta: {
      title,
      agent,
      createdAt: fromWireTime(created_at),
      updatedAt: fromWireTime(updated_at),
      messageCount: message_count,
      lateBranches: late_branches ?? 0,
    },
    entryId: hit.entry_id,
    index: hit.msg_idx,
    leaf: hit.leaf,
    branch: hit.branch ?? null,
    score: hit.score,
    ...(typeof hit.similarity === "number" ? { similarity: hit.similarity } : {}),
    window: hit.window.map(fromWireWindowItem),
    ...(hit.parts === null ? {} : { parts: hit.parts as NonNullable<SearchHit["parts"]> }),
  };
}

export function fromWireWindowItem(item: WireWindowItem): WindowItem {
  return {
    entryId: item.entry_id,
    index: item.msg_idx,
    role: item.role as WindowItem["role"],
    actor: item.actor,
    createdAt: fromWireTime(item.created_at),
    snippet: item.snippet,
    truncated: item.truncated,
    toolName: item.tool_name,
    matches: item.matches,
    found: item.found,
  };
}
