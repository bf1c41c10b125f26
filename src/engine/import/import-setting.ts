/** What an import writes with, beside the session itself. */

import type { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import type { JsonObject } from "../../model/json.ts";
import type { DescribeSession } from "./describe-session.ts";

export interface ImportSetting {
  readonly startedAt: number | null;
  /** What the session is called until its entries are read. */
  readonly title: string;
  readonly problems: ProblemLog;
  readonly dryRun: boolean;
  /** The entry that the first one follows, in a format without a tree. */
  readonly after: string | null;
  readonly describe: DescribeSession | undefined;
  readonly onKnown: ((entry: ImportedEntry) => void) | undefined;
  /** Under which an import that was cut off stored what it stored: that counts as stored by this one. */
  readonly idempotencyKey: string | undefined;
  /** Another file of the session comes behind this one: what then becomes of what is new. */
  readonly whenLate: "refuse" | "aside" | undefined;
  /**
   * What the session's metadata gets if something is stored: the files that it is in. `branch` is the
   * end of what was stored as a branch because the file came late.
   */
  readonly files: (branch: string | null) => JsonObject | undefined;
  /**
   * When the last was said in the session's other files, in epoch milliseconds; 0 if there are none. A
   * file that ends before that is no reason to leave what was said later.
   */
  readonly newestAt: number;
}

/** An entry of a batch, and its id here. */
export interface Waiting {
  readonly entry: ImportedEntry;
  readonly id: string;
}

/** What a batch says of its session; it counts once the batch is stored. */
export interface ReadOfBatch {
  title: string | undefined;
  /** What stands for the past of an entry, by its id. */
  readonly summaries: Map<string, string>;
}

/** What became of a batch. */
export interface Appended {
  readonly stored: number;
  /** An import under the same key has stored it before. */
  readonly isRepeated: boolean;
}

/**
 * A batch is held in memory, and stored in one transaction, for which others wait: this bounds both,
 * whatever the entries hold.
 */
export const BATCH_BYTES: number = 128 * 1024;
export const BATCH_ENTRIES = 128;

/** Nothing is read meanwhile: who gave something so large knows then that it is held no longer. */
export const LARGE_BYTES: number = 256 * 1024;
