/** The sweep as it crosses the port. */

export interface SweepRequest {
  /** Absent: every tenant. */
  readonly tenant?: string;
  readonly now: number;
  /** The most sessions to delete in one call. */
  readonly limit: number;
}

export interface SweepResult {
  readonly deletedSessions: readonly { readonly tenant: string; readonly sessionId: string }[];
  readonly abortedMessages: readonly { readonly tenant: string; readonly entryId: string }[];
  readonly forgottenKeys: number;
  readonly collectedBlobs: number;
  /** Records whose time had run out. */
  readonly deletedRecords: number;
  /** Whether the limit left something for another call. */
  readonly more: boolean;
}
