/** What every part of the engine needs: a store, one tenant, a clock and new ids. */

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
  /** Who asks, for the rows of the feed; undefined where the host itself does. */
  readonly by?: ChangeAuthor;
  /** How tokens are counted where no provider did. */
  readonly counter: TokenCounter;
  /** Language models by the names that sessions know them under. */
  readonly models: Readonly<Record<string, TextModel>>;
  /** What models cost. */
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
  /** What contexts take whose providers report nothing, of every tenant. */
  readonly contextSizes: ContextSizeCache;
  /** Work of this process that must not overlap, of every tenant: by what it is and whose. */
  readonly queue: KeyedQueue;
  /** How long an open message outlives its writer's last sign of life. */
  readonly leaseMs: number;
}
