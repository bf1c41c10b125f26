/** Requests and results of erasing content, as they cross the store port. */

import type { ChangeAuthor } from "../model/change.ts";
import type { Retention } from "../model/session.ts";

/** The rest of an erased entry: its row without content, or its place in the tree and its hash. */
export type EraseMode = Exclude<Retention, "full">;

export interface EraseRequest {
  readonly sessionId: string;
  /** At most 500. Pinned and unknown entries and the session's newest compaction are skipped. */
  readonly entryIds: readonly string[];
  readonly mode: EraseMode;
  /**
   * Given once all entries covered by compactions up to this sequence are erased: the session is
   * due again after a later compaction.
   */
  readonly appliedThrough?: number;
  /**
   * Permanent removal, of pinned entries too. The session counts them in its metadata
   * (`REMOVED_KEY`); from then on the bytes of its files are not stored, and it is not imported
   * again.
   */
  readonly isRemoval?: boolean;
  readonly now: number;
  readonly by?: ChangeAuthor;
}

export interface EraseResult {
  /** Entries erased by this call, without those erased before. */
  readonly erased: number;
}

/** A session with a compaction whose retention is not applied yet. */
export interface RetentionDue {
  readonly sessionId: string;
  readonly retention: EraseMode;
  /** The sequence of the last applied compaction; 0: none. */
  readonly appliedThrough: number;
}
