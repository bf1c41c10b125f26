/** The dependencies of every part of the engine: a store, one tenant, a clock and new ids. */

import type { KeyedQueue } from "../async/keyed-queue.ts";
import type { TokenCounter } from "../context/tokens.ts";
import type { ChangeAuthor } from "../model/change.ts";
import type { PriceTable } from "../model/prices.ts";
import type { TextModel } from "../model/text-model.ts";
import type { Store } from "../store/store.ts";
import type { ContextSizeCache } from "./context/context-size-cache.ts";
import type { Meaning } from "./embeddings/meaning.ts";

export interface EngineContext {
  readonly store: Store;
  readonly tenant: string;
  /** The caller, for rows of the feed; undefined for the host itself. */
  readonly by?: ChangeAuthor;
  /** How tokens are counted where no provider did. */
  readonly counter: TokenCounter;
  /** Language models by the names that sessions know them under. */
  readonly models: Readonly<Record<string, TextModel>>;
  /** Prices of models. */
  prices(): PriceTable;
  now(): number;
  newId(): string;
  /** Absent without an embedder. */
  readonly meaning?: Meaning;
  /** How long a search may take whose caller names no deadline. */
  readonly searchDeadlineMs: number;
  /** How long chunks of an open message may wait before they are stored. */
  readonly flushMs: number;
  /** The messages that are being written in this process, of every tenant: closing stores them. */
  readonly openMessages: Set<{ flush(): Promise<void> }>;
  /** Estimated context sizes of sessions without reported usage, of every tenant. */
  readonly contextSizes: ContextSizeCache;
  /** Keyed mutexes of this process, by operation and subject, of every tenant. */
  readonly queue: KeyedQueue;
  /** How long an open message outlives its writer's last sign of life. */
  readonly leaseMs: number;
}

/**
 * The same for a call that only reads: a follower may answer it. A read that prepares a write keeps to
 * `engine` itself, whose store is the primary.
 */
export function forReading(engine: EngineContext): EngineContext {
  const { reader } = engine.store;
  return reader === undefined ? engine : { ...engine, store: reader };
}
