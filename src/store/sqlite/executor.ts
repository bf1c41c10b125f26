/** Where SQLite runs: on threads of its own, or on the caller's. */

import type { ReadName, WriteName } from "./operations/index.ts";

export interface Executor {
  write(name: WriteName, args: readonly unknown[]): Promise<unknown>;
  read(name: ReadName, args: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

export interface ExecutorOptions {
  readonly path: string;
  readonly durability: "power-loss" | "process";
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;
  readonly maxQueue: number;
}

/**
 * About how much the write-ahead log may grow before its content is moved into the database. Done
 * by the appending connection at SQLite's own default of 4 MB, it cost 3.8 ms at the 99th
 * percentile; on another thread it costs an append nothing.
 */
export const CHECKPOINT_BYTES: number = 16 * 1024 * 1024;
