/**
 * An LRU cache of estimated context sizes, for sessions whose providers report no usage.
 *
 * An append or the end of a stream takes a size out and, after the store has executed it, reports
 * its result to the cache. A size is kept only if the result continues the leaf that it was taken
 * at.
 */

import type { AppendResult } from "../../store/records.ts";

/** Tokens of the context that ends at `leaf`; null: an empty one. */
export interface ContextSize {
  readonly leaf: string | null;
  readonly tokens: number;
}

const MAX_SESSIONS = 256;

export class ContextSizeCache {
  /** By tenant and session, the least recently used first. */
  readonly #sizes = new Map<string, ContextSize>();

  /** Removes the size: it is unknown while an append is in progress. */
  take(tenant: string, sessionId: string): ContextSize | undefined {
    const key = keyOf(tenant, sessionId);
    const size = this.#sizes.get(key);
    this.#sizes.delete(key);
    return size;
  }

  /** Records a write that added `tokens` to the context of size `before`. */
  observe(
    tenant: string,
    sessionId: string,
    before: ContextSize,
    tokens: number,
    result: AppendResult,
  ): void {
    const key = keyOf(tenant, sessionId);
    this.#sizes.delete(key);
    if (result.replayed || result.entries[0]?.parentId !== before.leaf) return;
    this.#sizes.set(key, { leaf: result.leaf, tokens });
    if (this.#sizes.size <= MAX_SESSIONS) return;
    const [oldest] = this.#sizes.keys();
    if (oldest !== undefined) this.#sizes.delete(oldest);
  }

  /** Invalidates: the context was compacted, or continues from another leaf. */
  forget(tenant: string, sessionId: string): void {
    this.#sizes.delete(keyOf(tenant, sessionId));
  }
}

function keyOf(tenant: string, sessionId: string): string {
  return `${tenant}/${sessionId}`;
}

/**
 * Estimates the usage of model calls without reported usage.
 *
 * Automatic compaction needs a figure for every call, or a session without usage would never be
 * compacted. Such a call gets an estimate, marked as one. The context's size is read once and then
 * updated incrementally (`ContextSizeCache`), so the cost does not grow with the session.
 */
