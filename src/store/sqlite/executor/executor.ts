/** The port behind which SQLite runs: on threads of its own, or on the caller's. */

import type { MaintenanceTask, UpkeepReport } from "../../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import type { IndexingOptions } from "../../index/indexing-options.ts";
import type { Durability, StoreWrites } from "../../store.ts";
import type { READS, ReadName, WRITES, WriteName } from "../operations/index.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";

export type WriteArguments<Name extends WriteName> = Name extends keyof StoreWrites
  ? Parameters<StoreWrites[Name]>
  : ArgumentsOf<(typeof WRITES)[Name]>;
export type ReadArguments<Name extends ReadName> = ArgumentsOf<(typeof READS)[Name]>;

/** Without the connection. */
type ArgumentsOf<Operation extends (db: SqliteConnection, ...rest: never) => unknown> =
  Parameters<Operation> extends [SqliteConnection, ...infer Rest] ? Rest : never;

export interface Executor {
  /** The one connection of a store in memory; undefined for a file, which takes any number of them. */
  readonly only: SqliteConnection | undefined;
  /** SQLite runs on the caller's own thread, so that upkeep in the background is not free. */
  readonly inThread: boolean;
  write<Name extends WriteName>(
    name: Name,
    args: WriteArguments<Name>,
  ): Promise<ReturnType<(typeof WRITES)[Name]>>;
  read<Name extends ReadName>(
    name: Name,
    args: ReadArguments<Name>,
  ): Promise<ReturnType<(typeof READS)[Name]>>;
  search(tenant: string, request: IndexRequest, signal?: AbortSignal): Promise<IndexAnswer>;
  /** `unreadable` are segments that a search could not read. */
  maintain(
    tenant: string,
    task: MaintenanceTask,
    unreadable: readonly number[],
  ): Promise<UpkeepReport>;
  /** Ends the upkeep in progress at its next yield. */
  stopMaintenance(): Promise<void>;
  close(): Promise<void>;
}

export interface ExecutorOptions {
  readonly path: string;
  readonly durability: Durability;
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
 * another thread it does not delay appends.
 */
export const CHECKPOINT_PAGES = 8_192;
