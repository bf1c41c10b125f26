/** Where SQLite runs: on threads of its own, or on the caller's. */

import type { MaintenanceReport, MaintenanceTask } from "../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../search/request.ts";
import type { IndexingOptions } from "../index/indexing-options.ts";
import type { ReadName, WriteName } from "./operations/index.ts";

export interface Executor {
  write(name: WriteName, args: readonly unknown[]): Promise<unknown>;
  read(name: ReadName, args: readonly unknown[]): Promise<unknown>;
  search(tenant: string, request: IndexRequest, signal?: AbortSignal): Promise<IndexAnswer>;
  /** `unreadable` are segments that a search could not read. */
  maintain(
    tenant: string,
    task: MaintenanceTask,
    unreadable: readonly number[],
  ): Promise<MaintenanceReport>;
  /** Ends what is being maintained at its next breath. */
  stopMaintenance(): Promise<void>;
  close(): Promise<void>;
}

export interface ExecutorOptions {
  readonly path: string;
  readonly durability: "power-loss" | "process";
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;
  readonly maxQueue: number;
  readonly indexing: IndexingOptions;
  /** Searches run on a thread of their own. */
  readonly searchThread: boolean;
}

/**
 * How many pages are written before the write-ahead log is moved into the database: about 1,300
 * appends, or 16 MB. Four times as often took a twentieth of what batches reach. Done by the
 * appending connection at SQLite's own default of 4 MB, it cost 3.8 ms at the 99th percentile; on
 * another thread it costs an append nothing.
 */
export const CHECKPOINT_PAGES = 8_192;
