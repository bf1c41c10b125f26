/** Settings and batches of an import. */

import type { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import type { JsonObject } from "../../model/json.ts";
import type { AppendRequest } from "../../store/records.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { idempotency } from "../idempotency.ts";
import type { DescribeSession } from "./describe-session.ts";

export interface ImportSetting {
  readonly startedAt: number | null;
  /** The session's title until its entries are read. */
  readonly title: string;
  readonly problems: ProblemLog;
  readonly dryRun: boolean;
  /** The entry that the first one follows, in a format without a tree. */
  readonly after: string | null;
  readonly describe: DescribeSession | undefined;
  readonly onKnown: ((entry: ImportedEntry) => void) | undefined;
  /** The key of an interrupted import, whose entries count as stored by this one. */
  readonly idempotencyKey: string | undefined;
  /** How to handle new entries of a file that precedes a stored one. */
  readonly whenLate: "refuse" | "aside" | undefined;
  /**
   * The session's files, for its metadata, if entries are stored. `branch` is the end of a late
   * file's branch.
   */
  readonly files: (branch: string | null) => JsonObject | undefined;
  /**
   * The last time in the session's other files, in epoch milliseconds; 0 if there are none. A file
   * that ends earlier does not move the leaf.
   */
  readonly newestAt: number;
}

/** An entry of a batch, and its id here. */
export interface Waiting {
  readonly entry: ImportedEntry;
  readonly id: string;
}

/** The idempotency key of a batch, if any. `number` is its place in the import. */
export function keyOfBatch(
  { idempotencyKey, dryRun }: ImportSetting,
  batch: readonly Waiting[],
  number: number,
): Pick<AppendRequest, "idempotency"> {
  if (idempotencyKey === undefined || dryRun) return {};
  // Hashed, so that its length is valid for any given key.
  const key = toHex(sha256(Buffer.from(`${idempotencyKey}:${number}`)));
  return idempotency(`import:${key}`, () => ["import", batch.map(({ id }) => id)]);
}

/** The result of a batch. */
export interface Appended {
  readonly stored: number;
  /** Stored before by an import under the same key. */
  readonly isRepeated: boolean;
}

/**
 * A batch is buffered in memory and stored in one transaction that blocks other writers: this
 * bounds both.
 */
export const BATCH_BYTES: number = 128 * 1024;
export const BATCH_ENTRIES = 128;

/** Reading pauses for the write, so that the source can release a large value. */
export const LARGE_BYTES: number = 256 * 1024;
