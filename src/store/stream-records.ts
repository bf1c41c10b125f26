/** Records of the store port for pending messages. */

import type { Role, Usage } from "../model/entry.ts";
import type { ContextEstimate } from "./context-estimate.ts";
import type { Idempotency } from "./records.ts";

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
