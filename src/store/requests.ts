/** Requests and results of erasing content, as they cross the store port. */

import type { AccessToken } from "../model/access.ts";
import type { SWEEP } from "../model/answers/store.ts";
import type { ChangeAuthor } from "../model/change.ts";
import type { Role, Usage } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import type { Retention } from "../model/session.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { ContextEstimate, Idempotency, NewSession } from "./records.ts";

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

/** Points a key at a session: an existing one, or one created in the same transaction. */
export interface PutRouteRequest {
  readonly key: string;
  readonly sessionId: string;
  /**
   * Creates the session in the same transaction, so that two concurrent starts make one session.
   */
  readonly session?: NewSession;
  /** All fields of the route: replaces the previous ones. */
  readonly fields: JsonObject;
  /** The version that the writer has read; 0: no route. */
  readonly expectedVersion?: number;
  readonly reason: string;
  readonly now: number;
  readonly by?: ChangeAuthor;
}

/** A patch, applied inside the transaction; null removes a field. */
export interface PatchRouteRequest {
  readonly key: string;
  readonly fields: JsonObject;
  readonly expectedVersion?: number;
  readonly now: number;
  readonly by?: ChangeAuthor;
}

export interface OpenStreamRequest {
  readonly sessionId: string;
  readonly id: string;
  readonly role: Role;
  readonly actor: string | null;
  readonly metadata: string | null;
  readonly model: string | null;
  readonly adapter: string | null;
  /** The lease's owner: a random name of this writer. */
  readonly holder: string;
  readonly leaseMs: number;
  readonly now: number;
  readonly idempotency?: Idempotency;
}

export interface WriteStreamRequest {
  readonly id: string;
  readonly holder: string;
  /** JSON text of an array of chunks; empty: only renews the lease. */
  readonly chunks: string | null;
  readonly leaseMs: number;
  readonly now: number;
}

export interface CommitStreamRequest {
  readonly sessionId: string;
  readonly id: string;
  readonly holder: string;
  /** Unflushed chunks, as JSON text. */
  readonly chunks: string | null;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly adapter: string | null;
  /** Replaces the values given at opening. */
  readonly metadata: string | null;
  readonly contextWindow?: number;
  readonly estimatedContext?: ContextEstimate;
  readonly expectedLeaf?: string | null;
  readonly parentId?: string | null;
  readonly supersedes?: string;
  readonly now: number;
  readonly idempotency?: Idempotency;
}

export interface AbortStreamRequest {
  readonly id: string;
  /** Absent: any holder (an administrator's abort). */
  readonly holder?: string;
  readonly chunks: string | null;
  readonly reason: string;
  readonly now: number;
}

export interface PendingRecord {
  readonly id: string;
  readonly sessionId: string;
  readonly role: Role;
  readonly actor: string | null;
  readonly metadata: string | null;
  readonly model: string | null;
  readonly adapter: string | null;
  readonly openedAt: number;
  readonly expiresAt: number;
  /** Each the JSON text of an array of chunks, in order. */
  readonly chunks: readonly string[];
}

export interface NewToken extends Omit<AccessToken, "tenant" | "revokedAt"> {
  /** SHA-256 of the secret. */
  readonly secretHash: Uint8Array;
}

export interface TokenRecord {
  readonly token: AccessToken;
  readonly secretHash: Uint8Array;
}

/** The sweep at the store port. */

export interface SweepRequest {
  /** Absent: every tenant. */
  readonly tenant?: string;
  readonly now: number;
  /** The limit of deleted sessions per call. */
  readonly limit: number;
}

export interface SweepResult extends Omit<FieldsOf<typeof SWEEP>, "erasedEntries"> {
  /** Whether the limit left work for another call. */
  readonly more: boolean;
}
