/** The dependencies of every part of the engine: a store, one tenant, a clock and new ids. */

import type { KeyedQueue } from "../async/keyed-queue.ts";
import type { TokenCounter } from "../context/tokens.ts";
import type { ChangeAuthor } from "../model/change.ts";
import type { TextModel } from "../model/models.ts";
import type { PriceTable } from "../model/prices.ts";
import type { Store } from "../store/store.ts";
import type { ContextSizeCache } from "./context/context-size-cache.ts";
import type { Meaning } from "./embeddings/meaning.ts";

export interface EngineContext {
  readonly store: Store;
  readonly tenant: string;
  /** The caller, for rows of the feed; undefined for the host itself. */
  readonly by?: ChangeAuthor;
  /** Counts tokens where no provider reported them. */
  readonly counter: TokenCounter;
  /** Language models by the names that sessions use. */
  readonly models: Readonly<Record<string, TextModel>>;
  /** Prices of models. */
  prices(): PriceTable;
  now(): number;
  newId(): string;
  /** Absent without an embedder. */
  readonly meaning?: Meaning;
  /** The default deadline of a search. */
  readonly searchDeadlineMs: number;
  /** The longest delay before chunks of an open message are stored. */
  readonly flushMs: number;
  /** The open messages of this process, of every tenant: closing flushes them. */
  readonly openMessages: Set<{ flush(): Promise<void> }>;
  /** Estimated context sizes of sessions without reported usage, of every tenant. */
  readonly contextSizes: ContextSizeCache;
  /** Keyed mutexes of this process, by operation and subject, of every tenant. */
  readonly queue: KeyedQueue;
  /** Searches of this process since its start, and those that their deadline cut short. */
  readonly searches: { total: number; partial: number };
  /** An open message expires this long after its writer's last renewal. */
  readonly leaseMs: number;
}

/**
 * The context of read-only calls: a follower may answer. A read before a write stays on `engine`,
 * whose store is the primary.
 */
export function forReading(engine: EngineContext): EngineContext {
  const { reader } = engine.store;
  return reader === undefined ? engine : { ...engine, store: reader };
}
