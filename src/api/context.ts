/** Contexts, compactions, summaries and usage on the wire. */

import type { Omission } from "../context/build.ts";
import type { ContextMessage } from "../context/message.ts";
import type { PruneOptions } from "../context/prune.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { Summary } from "../engine/compaction/summarize.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import type { Recalled } from "../engine/context/recall.ts";
import type { ContextUsage } from "../engine/context/usage.ts";
import type { JsonObject } from "../model/json.ts";
import { fromWireBlock, toWireBlock, type WireBlock } from "./block.ts";
import { fromWireEntry, toWireEntry, type WireEntry } from "./entry.ts";
import { fromWireFact, toWireFact, type WireFact } from "./note.ts";
import { fromWireWindowItem, toWireWindowItem, type WireWindowItem } from "./search.ts";
import { fromWireUsage, toWireUsage, type WireUsage } from "./usage.ts";
import { fromWireFields, fromWireTime, toWireFields, toWireTime } from "./wire.ts";

export interface WireContext {
  readonly messages: readonly WireContextMessage[];
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Tool results that were shortened. */
  readonly shortened: number;
}

export interface WireContextMessage {
  readonly role: ContextMessage["role"];
  readonly actor: string | null;
  readonly part: ContextMessage["part"];
  readonly blocks: readonly WireBlock[];
  readonly entry_ids: readonly string[];
  /** The model that wrote it; null for other messages. */
  readonly model: string | null;
  /** Whether it is unfinished. */
  readonly aborted: boolean;
}

export interface WireCompaction {
  readonly entry: WireEntry | null;
  readonly summary: string | null;
  readonly removed: number;
  readonly first_kept_entry_id: string | null;
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Entries erased since, by the session's retention. */
  readonly erased: number;
}

export interface WireSummary {
  readonly id: string;
  readonly kind: Summary["kind"];
  readonly from: string;
  readonly through: string;
  readonly text: string;
  readonly model: string | null;
  readonly tokens: number;
  readonly parent: string | null;
  readonly level: number;
  readonly stale: boolean;
  readonly created_at: string;
}

export interface WireContextUsage {
  readonly context_tokens: number;
  readonly estimated_tokens: number;
  readonly estimated: boolean;
  readonly reported_by: string | null;
  readonly compaction: string | null;
  readonly billed: WireUsage;
}

export type WireRecalled =
  | {
      readonly type: "message";
      readonly entry: WireEntry;
      readonly score: number;
      readonly window: readonly WireWindowItem[];
    }
  | { readonly type: "fact"; readonly fact: WireFact };

export function toWireContext(context: BuiltContext): WireContext {
  const { messages, omitted, tokens, shortened } = context;
  return { messages: messages.map(toWireMessage), omitted, tokens, shortened };
}

export function toWireCompaction(result: CompactionResult): WireCompaction {
  return {
    entry: result.entry === null ? null : toWireEntry(result.entry),
    summary: result.summary,
    removed: result.removed,
    first_kept_entry_id: result.firstKeptEntryId,
    tokens_before: result.tokensBefore,
    tokens_after: result.tokensAfter,
    erased: result.erased,
  };
}

export function toWireSummary({ createdAt, ...summary }: Summary): WireSummary {
  return { ...summary, created_at: toWireTime(createdAt) };
}

export function toWireContextUsage(usage: ContextUsage): WireContextUsage {
  return {
    context_tokens: usage.contextTokens,
    estimated_tokens: usage.estimatedTokens,
    estimated: usage.estimated,
    reported_by: usage.reportedBy,
    compaction: usage.compaction,
    billed: toWireUsage(usage.billed),
  };
}

export function toWireRecalled(item: Recalled): WireRecalled {
  if (item.type === "fact") return { type: "fact", fact: toWireFact(item.fact) };
  const { entry, score, window } = item;
  return {
    type: "message",
    entry: toWireEntry(entry),
    score,
    window: window.map(toWireWindowItem),
  };
}

export function fromWireContext(context: WireContext): BuiltContext {
  const { messages, omitted, tokens, shortened } = context;
  return { messages: messages.map(fromWireMessage), omitted, tokens, shortened };
}

export function fromWireCompaction(result: WireCompaction): CompactionResult {
  return {
    entry: result.entry === null ? null : fromWireEntry(result.entry),
    summary: result.summary,
    removed: result.removed,
    firstKeptEntryId: result.first_kept_entry_id,
    tokensBefore: result.tokens_before,
    tokensAfter: result.tokens_after,
    erased: result.erased,
  };
}

export function fromWireSummary({ created_at, ...summary }: WireSummary): Summary {
  return { ...summary, createdAt: fromWireTime(created_at) };
}

export function fromWireContextUsage(usage: WireContextUsage): ContextUsage {
  return {
    contextTokens: usage.context_tokens,
    estimatedTokens: usage.estimated_tokens,
    estimated: usage.estimated,
    reportedBy: usage.reported_by,
    compaction: usage.compaction,
    billed: fromWireUsage(usage.billed),
  };
}

export function fromWireRecalled(item: WireRecalled): Recalled {
  if (item.type === "fact") return { type: "fact", fact: fromWireFact(item.fact) };
  const { entry, score, window } = item;
  return {
    type: "message",
    entry: fromWireEntry(entry),
    score,
    window: window.map(fromWireWindowItem),
  };
}

function toWireMessage(message: ContextMessage): WireContextMessage {
  const { role, actor, part, blocks, entryIds, model, aborted = false } = message;
  return {
    role,
    actor,
    part,
    blocks: blocks.map(toWireBlock),
    entry_ids: entryIds,
    model,
    aborted,
  };
}

function fromWireMessage(message: WireContextMessage): ContextMessage {
  const { role, actor, part, blocks, entry_ids: entryIds, model, aborted } = message;
  return {
    role,
    actor,
    part,
    blocks: blocks.map(fromWireBlock),
    entryIds,
    model,
    ...(aborted ? { aborted } : {}),
  };
}

/** The pruning options of a context on the wire. */
export interface WirePrune {
  readonly window_tokens: number;
  readonly used_tokens?: number;
  readonly tools?: NonNullable<PruneOptions["tools"]>;
  readonly limits?: JsonObject;
}

export function toWirePrune({ limits, ...prune }: PruneOptions): WirePrune {
  const fields = toWireFields(prune as unknown as JsonObject) as unknown as WirePrune;
  return limits === undefined ? fields : { ...fields, limits: toWireFields(limits as JsonObject) };
}

export function fromWirePrune({ limits, ...prune }: WirePrune): PruneOptions {
  const options: PruneOptions = fromWireFields(prune);
  if (limits === undefined) return options;
  return { ...options, limits: fromWireFields(limits) as NonNullable<PruneOptions["limits"]> };
}
