/** Contexts, compactions, summaries and usage on the wire. */

import type { Omission } from "../context/build.ts";
import type { ContextMessage } from "../context/message.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import type { CompactionResult } from "../engine/context/compact.ts";
import type { Recalled } from "../engine/context/recall.ts";
import type { Summary } from "../engine/context/summarize.ts";
import type { ContextUsage } from "../engine/context/usage.ts";
import { toWireBlock, type WireBlock } from "./block.ts";
import { toWireEntry, type WireEntry } from "./entry.ts";
import { toWireFact, type WireFact } from "./note.ts";
import { toWireWindowItem, type WireWindowItem } from "./search.ts";
import { toWireUsage, type WireUsage } from "./usage.ts";
import { toWireTime } from "./wire.ts";

export interface WireContext {
  readonly messages: readonly WireContextMessage[];
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Tool results that were shortened. */
  readonly shortened: number;
}

export interface WireContextMessage {
  readonly role: string;
  readonly actor: string | null;
  readonly part: string;
  readonly blocks: readonly WireBlock[];
  readonly entry_ids: readonly string[];
}

export interface WireCompaction {
  readonly entry: WireEntry | null;
  readonly removed: number;
  readonly first_kept_entry_id: string | null;
  readonly tokens_before: number;
  readonly tokens_after: number;
}

export interface WireSummary {
  readonly id: string;
  readonly kind: string;
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
    removed: result.removed,
    first_kept_entry_id: result.firstKeptEntryId,
    tokens_before: result.tokensBefore,
    tokens_after: result.tokensAfter,
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

function toWireMessage({
  role,
  actor,
  part,
  blocks,
  entryIds,
}: ContextMessage): WireContextMessage {
  return { role, actor, part, blocks: blocks.map(toWireBlock), entry_ids: entryIds };
}
