/**
 * State of the automatic parts, stored in the session's metadata.
 *
 * A restart, another process or another node continues from it. Each field is a metadata key of its
 * own, because the store merges metadata by key.
 */

import { countBlocks, type TokenCounter } from "../../context/tokens.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { Session } from "../../model/session.ts";
import type { AutoPolicy } from "./auto-policy.ts";
import { type CompactionFigures, inputTokens } from "./decide.ts";

export interface AutoState {
  /** How often this session was compacted automatically. */
  readonly compactionCount: number;
  /** The session's `messageCount` at the last attempt to compact; null: no attempt yet. */
  readonly attemptAtMessage: number | null;
  /** When memories were last flushed; null: never. */
  readonly memoryFlushAt: number | null;
  /**
   * `compactionCount` at that time. Null differs from 0: a session may be flushed before any
   * compaction.
   */
  readonly memoryFlushCompactionCount: number | null;
  /** The newest compaction at that time; it identifies the cycle. */
  readonly memoryFlushCompaction: string | null;
}

/** Stands for a compaction's id before the first compaction. */
const NO_COMPACTION = "none";

/** Lenient: other programs write metadata too. */
export function readAutoState(metadata: JsonObject): AutoState {
  const attempt = metadata["compactionAttempt"];
  const flushed = metadata["memoryFlushCompaction"];
  return {
    compactionCount: count(metadata["compactionCount"]) ?? 0,
    attemptAtMessage: isPlainObject(attempt) ? count(attempt["messageCount"]) : null,
    memoryFlushAt: count(metadata["memoryFlushAt"]),
    memoryFlushCompactionCount: count(metadata["memoryFlushCompactionCount"]),
    memoryFlushCompaction: typeof flushed === "string" ? flushed : null,
  };
}

/** Metadata for a fork: without the compaction state of the original session. */
export function withoutAutoState(metadata: JsonObject): JsonObject {
  const kept = Object.entries(metadata).filter(([name]) => !AUTO_KEYS.includes(name));
  return Object.fromEntries(kept);
}

const AUTO_KEYS: readonly string[] = [
  "compactionCount",
  "compactionAttempt",
  "memoryFlushAt",
  "memoryFlushCompactionCount",
  "memoryFlushCompaction",
];

/** Whether memories were flushed since the newest compaction, or ever if there was none. */
export function isFlushed(state: AutoState, compaction: string | null): boolean {
  return state.memoryFlushCompaction === (compaction ?? NO_COMPACTION);
}

export async function markFlushed(
  session: SessionHandle,
  state: AutoState,
  compaction: string | null,
  now: number,
): Promise<void> {
  await session.update({
    metadata: {
      memoryFlushAt: now,
      memoryFlushCompactionCount: state.compactionCount,
      memoryFlushCompaction: compaction ?? NO_COMPACTION,
    },
  });
}

/** Records an attempt; `compactionCount` only if it succeeded. */
export async function markAttempt(
  session: SessionHandle,
  messageCount: number,
  compactionCount?: number,
): Promise<void> {
  await session.update({
    metadata: {
      compactionAttempt: { messageCount },
      ...(compactionCount === undefined ? {} : { compactionCount }),
    },
  });
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** Usage of the last call, from a host that calls models itself. */
export interface TurnUsage extends Partial<Usage> {
  /** Tokens of the context. Default: all tokens of the call. */
  readonly contextTokens?: number;
  /** False: the figures are older than the last compaction, or of another session. */
  readonly fresh?: boolean;
}

export interface MeasuredSession {
  readonly session: Session;
  readonly state: AutoState;
  /** The newest compaction on the path. */
  readonly compaction: string | null;
  readonly figures: CompactionFigures;
  /** Whether `contextTokens` counts the current context. */
  readonly fresh: boolean;
}

/** `usage` replaces the log's figures of the last call. Messages are read only for `turns`. */
export async function readFigures(
  handle: SessionHandle,
  policy: AutoPolicy,
  contextWindow: number,
  counter: TokenCounter,
  usage?: TurnUsage,
): Promise<MeasuredSession> {
  const session = await handle.meta();
  const measured = await handle.usage();
  const state = readAutoState(session.metadata);
  const reported = usage === undefined ? null : toUsage(usage);
  const total = reported === null ? 0 : inputTokens(reported) + reported.outputTokens;
  const told = usage?.contextTokens ?? (total > 0 ? total : undefined);
  const fresh = usage?.fresh ?? true;
  const isTold = told !== undefined && fresh;
  return {
    session,
    state,
    compaction: measured.compaction,
    fresh,
    figures: {
      contextTokens: isTold ? told : measured.contextTokens,
      estimated: isTold ? false : measured.estimated,
      contextWindow,
      billedInputTokens: session.tokens.inputTokens,
      unsummarized:
        policy.name === "turns"
          ? await readUnsummarized(handle, measured.compaction, counter)
          : { turns: 0, tokens: 0 },
      messagesSinceAttempt: since(state.attemptAtMessage, session.messageCount),
      lastInputTokens: isTold
        ? total > 0 && reported !== null
          ? inputTokens(reported)
          : null
        : await readLastInput(handle, measured.reportedBy),
    },
  };
}

/** A mark beyond the session's end was copied from another session: ignore it. */
function since(attemptAt: number | null, messageCount: number): number | null {
  return attemptAt === null || attemptAt > messageCount ? null : messageCount - attemptAt;
}

/** Messages of the active path after the newest compaction's range, with their tokens. */
async function readUnsummarized(
  handle: SessionHandle,
  compaction: string | null,
  counter: TokenCounter,
): Promise<CompactionFigures["unsummarized"]> {
  const covered = compaction === null ? 0 : await coveredThrough(handle, compaction);
  let turns = 0;
  let tokens = 0;
  let before: string | undefined;
  for (;;) {
    const page = await handle.history(
      before === undefined ? { limit: PAGE } : { limit: PAGE, before },
    );
    const open = page.filter(({ sequence }) => sequence > covered);
    turns += open.length;
    for (const { blocks } of open) tokens += countBlocks(blocks, counter);
    before = page[0]?.id;
    if (page.length < PAGE || open.length < page.length) return { turns, tokens };
  }
}

/** Above the default limit of `turns`, so one page usually suffices. */
const PAGE = 64;

/** The sequence up to which a compaction covers the path. */
async function coveredThrough(handle: SessionHandle, compaction: string): Promise<number> {
  const entry = await handle.getEntry(compaction);
  const fields: Record<string, unknown> = isPlainObject(entry.data) ? entry.data : {};
  const { through, firstKeptEntryId } = fields;
  if (typeof through === "string") return (await handle.getEntry(through)).sequence;
  if (typeof firstKeptEntryId !== "string") return entry.sequence;
  return (await handle.getEntry(firstKeptEntryId)).sequence - 1;
}

async function readLastInput(handle: SessionHandle, entry: string | null): Promise<number | null> {
  if (entry === null) return null;
  const { usage } = await handle.getEntry(entry);
  return usage === null ? null : inputTokens(usage);
}

function toUsage(usage: TurnUsage): Usage {
  const { inputTokens: input = 0, outputTokens = 0, cacheCreationTokens = 0 } = usage;
  return {
    inputTokens: input,
    outputTokens,
    cacheCreationTokens,
    cacheReadTokens: usage.cacheReadTokens ?? 0,
  };
}
