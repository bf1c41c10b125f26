/** The sweep at the store port. */

export interface SweepRequest {
  /** Absent: every tenant. */
  readonly tenant?: string;
  readonly now: number;
  /** The limit of deleted sessions per call. */
  readonly limit: number;
}

export interface SweepResult {
  readonly deletedSessions: readonly { readonly tenant: string; readonly sessionId: string }[];
  readonly abortedMessages: readonly { readonly tenant: string; readonly entryId: string }[];
  readonly forgottenKeys: number;
  readonly collectedBlobs: number;
  /** Expired records. */
  readonly deletedRecords: number;
  /** Whether the limit left work for another call. */
  readonly more: boolean;
}
