/**
 * State of the automatic parts, stored in the session's metadata.
 *
 * A restart, another process or another node continues from it. Each field is a metadata key of its
 * own, because the store merges metadata by key.
 */

import type { SessionHandle } from "../../engine/session-handle.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";

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
