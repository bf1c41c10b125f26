/** The port to a running SQLite: on its own threads, or on the caller's. */

import type { MaintenanceReport, MaintenanceTask } from "../../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import type { SuiteIndexing } from "../../index/indexing-options.ts";
import type { Durability } from "../../store.ts";
import type { ReadName, SqliteReads, SqliteWrites, WriteName } from "../operations/index.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";

export interface Executor {
  /** The single connection of an in-memory store; undefined for a file. */
  readonly only: SqliteConnection | undefined;
  /** True: SQLite runs on the caller's thread, which background maintenance would block. */
  readonly inThread: boolean;
  write<Name extends WriteName>(
    name: Name,
    args: Parameters<SqliteWrites[Name]>,
  ): ReturnType<SqliteWrites[Name]>;
  read<Name extends ReadName>(
    name: Name,
    args: Parameters<SqliteReads[Name]>,
  ): ReturnType<SqliteReads[Name]>;
  search(tenant: string, request: IndexRequest, signal?: AbortSignal): Promise<IndexAnswer>;
  /** `unreadable` are segments that a search could not read. */
  maintain(
    tenant: string,
    task: MaintenanceTask,
    unreadable: readonly number[],
  ): Promise<MaintenanceReport>;
  /** Stops the current maintenance step at its next yield. */
  stopMaintenance(): Promise<void>;
  close(): Promise<void>;
}

export interface ExecutorOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;
  readonly maxQueue: number;
  readonly indexing: SuiteIndexing;
  /** Threads of their own for searches, at most 2. 0: they run on the reader's. */
  readonly searchThreads: number;
}

/**
 * Called while the store is closed, with the reason why its log could not be merged into its file.
 * Nothing is lost: so it is no failure of the caller, whose own error it would hide.
 */
export type OnUnmerged = (reason: string) => void;

/** Closes all resources, even if one fails. */

/** In order. Throws the first failure after all are done. */
export async function closeAll(...parts: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) {
    try {
      await part();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
