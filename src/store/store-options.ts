/** How a store is opened. */

import type { StoreLoss } from "../model/store-loss.ts";
import type { IndexingOptions } from "./index/indexing-options.ts";

export type Durability =
  /** An acknowledged write survives power loss (the default). */
  | "power-loss"
  /** It survives the death of the process, not that of the machine. */
  | "process";

export interface StoreOptions {
  readonly durability?: Durability;
  /** Never creates, migrates or writes. */
  readonly readOnly?: boolean;
  /** `false` fails with `store_not_found` instead of creating a store. */
  readonly create?: boolean;
  /**
   * For short commands: SQLite runs on the caller's own thread, and closing does the upkeep of the
   * index that is due.
   */
  readonly inThread?: boolean;
  /** For hosts with many callers: SQLite searches on a thread of its own, so that no read waits for it. */
  readonly searchThread?: boolean;
  /** How many writes may wait before `store_busy`. */
  readonly maxQueue?: number;
  /**
   * How long a write waits for another process's lock before `store_busy`. Where an address has several
   * hosts, also how long a call waits for a primary, 10 s at most, before `store_unavailable`.
   */
  readonly busyTimeoutMs?: number;
  readonly indexing?: IndexingOptions;
  /** Called during opening for each loss that was not accepted. Default: a process warning. */
  readonly onLoss?: (loss: StoreLoss) => void;
  /**
   * Called while the store is opened if an option cannot hold, such as `indexing.tools` of a store that
   * has another. Left out: a warning of the process.
   */
  readonly onWarning?: (sentence: string) => void;
  /** PostgreSQL: addresses of hot standbys that reads may run on. */
  readonly replicas?: readonly string[];
  /**
   * PostgreSQL: how changes of other nodes are noticed. `listen` (the default) keeps a connection that
   * listens, `poll` asks several times a second; an address is where to listen instead, such as past a
   * pooler that shares connections between transactions.
   */
  readonly notify?: string;
}
