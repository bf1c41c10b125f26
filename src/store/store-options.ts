/** Options for opening a store. */

import type { Durability } from "../model/inputs/choices.ts";
import { describeLoss, type StoreLoss } from "../model/store-loss.ts";
import type { SuiteIndexing } from "./index/indexing-options.ts";

/** The address of an in-memory store. */
export const MEMORY = ":memory:";

export type { Durability } from "../model/inputs/choices.ts";

export interface StoreOptions {
  /** Default `power-loss`. */
  readonly durability?: Durability;
  /** Never creates, migrates or writes. */
  readonly readOnly?: boolean;
  /** `false` fails with `store_not_found` instead of creating a store. */
  readonly create?: boolean;
  /**
   * For short commands: SQLite runs on the caller's thread, and closing runs due index maintenance.
   */
  readonly inThread?: boolean;
  /**
   * For hosts with many callers: searches run on their own SQLite thread, so that other reads do
   * not wait; with two cores or more, two at a time on two threads.
   */
  readonly searchThread?: boolean;
  /** The limit of queued writes; above it, `store_busy`. */
  readonly maxQueue?: number;
  /**
   * How long a write waits for another process's lock before `store_busy`. With several hosts, also
   * how long a call waits for a primary, at most 10 s, before `store_unavailable`.
   */
  readonly busyTimeoutMs?: number;
  readonly indexing?: SuiteIndexing;
  /** Called during opening for each unacknowledged loss. Default: a process warning. */
  readonly onLoss?: (loss: StoreLoss) => void;
  /**
   * Called during opening if an option cannot apply, such as `indexing.tools` for a store with
   * another setting, and during closing if the write-ahead log of a SQLite store could not be merged
   * into its file, as on a full disk. Default: a process warning.
   */
  readonly onWarning?: (sentence: string) => void;
  /** PostgreSQL: addresses of hot standbys for reads. */
  readonly replicas?: readonly string[];
  /**
   * PostgreSQL: how changes of other nodes are noticed. `listen` (the default) keeps a listening
   * connection, `poll` queries several times a second; an address is where to listen instead, for
   * example past a pooler in transaction mode.
   */
  readonly notify?: string;
}

/** The default handler: Node prints the warning once, to standard error. */
export function warnOfLoss(loss: StoreLoss): void {
  // Only the process that met a failover can acknowledge its loss.
  const command = loss.kind === "failover" ? "" : ", or doctor --accept-loss";
  process.emitWarning(`${describeLoss(loss)}; see acceptLosses${command}`, {
    type: "BackscrollWarning",
    code: "BACKSCROLL_LOSS",
  });
}
