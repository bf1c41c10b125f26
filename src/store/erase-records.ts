/** Requests and results of erasing content, as they cross the store port. */

import type { ChangeAuthor } from "../model/change.ts";
import type { Retention } from "../model/session.ts";

/** The rest of an erased entry: its row without content, or its place in the tree and its hash. */
export type EraseMode = Exclude<Retention, "full">;

export interface EraseRequest {
  readonly sessionId: string;
  /** At most 500. Pinned entries, unknown ones and the session's newest compaction are left alone. */
  readonly entryIds: readonly string[];
  readonly mode: EraseMode;
  /**
   * Given once all that compactions up to this sequence cover is erased: the session is due again
   * only after a later one.
   */
  readonly appliedThrough?: number;
  /**
   * The entries go for good, pinned ones too. The session counts them in its metadata (`REMOVED_KEY`), and
   * from then on no bytes of its files are kept and it is not imported anew.
   */
  readonly isRemoval?: boolean;
  readonly now: number;
  readonly by?: ChangeAuthor;
}

export interface EraseResult {
  /** Entries that have lost something now; one that was erased before does not count. */
  readonly erased: number;
}

/** A session that has a compaction whose retention was not applied yet. */
export interface RetentionDue {
  readonly sessionId: string;
  readonly retention: EraseMode;
  /** The sequence of the last compaction for which it was; 0: none. */
  readonly appliedThrough: number;
}
