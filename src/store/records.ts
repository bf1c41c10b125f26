/**
 * Records of the store port: plain data, so that they can cross a thread.
 *
 * Content is JSON text and payload bytes, which the engine maps to blocks. Times are UTC epoch
 * milliseconds.
 */

import type {
  FOLLOWER_STATUS,
  QUOTA,
  STORE_STATUS,
  TENANT_STATUS,
  TOMBSTONE,
} from "../model/answers/store.ts";
import type { ChangeKind } from "../model/change.ts";
import type { EntryKind, EntryStatus, Role, Usage } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import type { Fact, Memory } from "../model/note.ts";
import type { IngestFigures, MetadataFilter, Origin, Session } from "../model/session.ts";
import type { NullableSettable, SettableField } from "../model/session-fields.ts";
import type { StoredFields } from "../model/session-filters.ts";
import type { FieldsOf } from "../model/shape.ts";
import type { StoreLoss } from "../model/store-loss.ts";
import type { Payload } from "../transcript/content.ts";
import type { AppendGuard } from "./plan/append-guard.ts";

/**
 * An optimistic estimate: recorded only if the leaf is still `after`, otherwise the change has
 * `contextTokens: null`.
 */
export interface ContextEstimate {
  readonly tokens: number;
  /** The active leaf that the whole request is appended to. */
  readonly after: string | null;
}

/** An idempotency key and the identity of its request. */
export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the request in hex. Another request under the same key is a conflict. */
  readonly requestHash: string;
  /** Kept as long as the session exists, instead of `IDEMPOTENCY_KEPT_MS`. */
  readonly isLasting?: boolean;
}

export interface NewSession
  extends Pick<Session, Exclude<SettableField, NullableSettable>>,
    Partial<Pick<Session, NullableSettable>> {
  readonly id: string;
  readonly agent: string;
  readonly createdBy: string;
  readonly origin: Origin;
  readonly startedAt: number;
  /** The conversation's start elsewhere. Default: `now`. */
  readonly createdAt?: number;
  /** Figures of an ingested session, if complete. */
  readonly figures?: IngestFigures;
  readonly now: number;
  readonly idempotency?: Idempotency;
  /** If a session has the origin's key, gives it and creates nothing. */
  readonly orExisting?: boolean;
  /** The origin of an imported session that begins with copies of another one's entries. */
  readonly fork?: ForkOrigin;
}

/** The origin of a fork. */
export interface ForkOrigin {
  readonly parentSessionId: string;
  readonly forkPoint: string;
  /** The fork point's hash, which the first entry's hash continues. */
  readonly rootHash: Uint8Array;
}

/**
 * A patch: absent fields stay. `metadata` is merged key by key inside the transaction, so that
 * writers of different keys do not overwrite each other; null removes a key.
 */
export interface SessionPatch extends Partial<Pick<Session, SettableField>> {
  readonly summary?: string | null;
  readonly figures?: IngestFigures;
  /** Set late, once known. Throws `session_exists` if another session has the key. */
  readonly origin?: Pick<Origin, "key" | "projectId" | "projectPath" | "gitBranch" | "repo">;
}

export interface SessionFilter extends StoredFields<"list"> {
  /** Last interaction at or after, and before. */
  readonly since?: number;
  readonly until?: number;
  /** False leaves out sessions with `machineMade: true` in their metadata. */
  readonly machineMade?: boolean;
  /** Top-level fields of the metadata, each with its value. */
  readonly metadata?: MetadataFilter;
}

export interface SessionSize {
  readonly sessionId: string;
  /** Content bytes, as counted for the tenant. */
  readonly contentBytes: number;
  /** Pending messages, including those of dead writers. */
  readonly openMessages: number;
}

export interface ModelCount {
  readonly model: string;
  readonly sessions: number;
}

/** Usage of the messages of a session and a model within a quarter of an hour. */
export interface UsageSum {
  readonly sessionId: string;
  readonly model: string | null;
  /** The start of the quarter of an hour: every time zone's day begins on one. */
  readonly at: number;
  readonly messages: number;
  readonly usage: Usage;
}

/** Sorted by last interaction, newest first; `after` is the end of the previous page. */
export interface SessionPage {
  readonly limit: number;
  readonly after?: SessionPosition;
}

export interface SessionPosition {
  readonly lastInteractionAt: number;
  readonly number: number;
}

/** A new entry from the engine. The store adds its place and its hash. */
export interface NewEntry {
  readonly id: string;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly content: string;
  /**
   * The content in UTF-8, after `NONCE_BYTES` of room. If given, `content` is empty: another thread
   * has encoded it, and the text is not needed.
   */
  readonly encoded?: Buffer;
  readonly payloads: readonly Payload[];
  readonly contentBytes: number;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly adapter: string | null;
  /** JSON text. */
  readonly metadata: string | null;
  readonly createdAt: number;
  /** Advances `lastInteractionAt`. */
  readonly interaction: boolean;
  /** The entry to append to; null starts a new root; absent means the active leaf. */
  readonly parentId?: string | null;
  /** The entry that this one supersedes: its sibling, or a version under another parent. */
  readonly supersedes?: string;
  /** Given with usage: added to the `context_usage` change. */
  readonly contextWindow?: number;
  /** The context's tokens, for a model call without reported usage. */
  readonly estimatedContext?: ContextEstimate;
  /** Numbers that the `entry_appended` change shows beside the kind, such as compacted tokens. */
  readonly feedDetails?: JsonObject;
  readonly copiedFrom?: string;
  /** An aborted message is an annotation of the leaf: stored, but on no path as a message. */
  readonly status?: "committed" | "aborted";
}

export interface AppendRequest {
  readonly sessionId: string;
  readonly entries: readonly NewEntry[];
  /**
   * Compare-and-swap: fails with `stale_leaf` unless this is the active leaf (null: the session is
   * empty).
   */
  readonly expectedLeaf?: string | null;
  /** Fails with `stale_leaf` unless every condition holds. */
  readonly guard?: AppendGuard;
  /**
   * The last entries of the active path, in order, else `stale_leaf`. The appended ones replace
   * them; without any, the leaf moves before them. They stay in the tree.
   */
  readonly replaced?: readonly string[];
  /** The host's clock, for `lastWriteAt` and the feed. */
  readonly now: number;
  readonly idempotency?: Idempotency;
  /** The session's new summary, written in the transaction that appends its compaction. */
  readonly summary?: NewSummary;
  /**
   * An import of an earlier conversation: no `context_usage` change, since no model was called, and
   * no places in the result.
   */
  readonly isHistory?: boolean;
}

/** The summary of a new or copied compaction, and the range that it covers. */
export interface NewSummary {
  readonly text: string;
  /** The last entry that it covers. */
  readonly through: string;
  /**
   * The newest compaction on the active path when this one was started (null: none). If given, the
   * append fails with `compaction_conflict` if that has changed, or if `through` is no longer on
   * the path.
   */
  readonly expectedCompaction?: string | null;
}

/** The fields that the store adds to an appended entry. */
export interface PlacedEntry {
  readonly id: string;
  readonly sequence: number;
  readonly parentId: string | null;
  readonly ordinal: number;
  /** In hex. */
  readonly hash: string;
}

export interface AppendResult {
  /** In request order; empty for a history. */
  readonly entries: readonly PlacedEntry[];
  readonly leaf: string | null;
  /** True: a replay of an earlier request, nothing was written. */
  readonly replayed: boolean;
}

/** An existing entry without its content. */
export interface EntryUsage {
  readonly id: string;
  readonly usage: Usage | null;
  readonly createdAt: number;
  readonly sequence: number;
  readonly depth: number;
  readonly supersededBy: string | null;
}

/** An entry as it is stored. */
export interface EntryRecord {
  readonly id: string;
  readonly sessionId: string;
  readonly sequence: number;
  readonly parentId: string | null;
  readonly chain: number;
  readonly depth: number;
  readonly ordinal: number;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly status: EntryStatus;
  readonly model: string | null;
  readonly adapter: string | null;
  readonly usage: Usage | null;
  readonly metadata: string | null;
  readonly createdAt: number;
  readonly supersededBy: string | null;
  readonly copiedFrom: string | null;
  readonly pinned: boolean;
  /** Null once erased. */
  readonly content: string | null;
  readonly contentBytes: number;
  /** Null once the content is erased, and in pages read for display. */
  readonly nonce: Uint8Array | null;
  /**
   * Kept when the content is erased, so that the entry's hash can still be checked. If both are
   * null, only a tombstone is left: its hash is in the feed.
   */
  readonly contentHash: Uint8Array | null;
  /** In hex. */
  readonly hash: string | null;
}

export interface MoveLeafRequest {
  readonly sessionId: string;
  /** The new active leaf; null starts over at the root. */
  readonly leaf: string | null;
  readonly expectedLeaf?: string | null;
  readonly now: number;
}

export interface ForkRequest {
  readonly sessionId: string;
  /** The last entry to copy; absent means the active leaf. */
  readonly through?: string;
  readonly session: NewSession;
}

export interface NewMemory extends Omit<Memory, "createdAt" | "updatedAt"> {
  readonly now: number;
}

export interface NewFact extends Omit<Fact, "supersededBy"> {
  /** Facts of the same tenant that this one supersedes. */
  readonly supersedes?: readonly string[];
}

export interface ChangeRecord {
  readonly position: number;
  readonly kind: ChangeKind;
  readonly at: number;
  readonly sessionId: string | null;
  readonly entryId: string | null;
  readonly entryHash: Uint8Array | null;
  /** JSON text. */
  readonly details: string | null;
  readonly hash: Uint8Array;
}

export interface ChangePage {
  readonly changes: readonly ChangeRecord[];
  /** The position after this page, also if a filter left it empty. */
  readonly through: number;
}

export interface FeedHead {
  /** The store's epoch; a restored copy has another. */
  readonly epoch: string;
  readonly position: number;
  readonly hash: Uint8Array;
  /** The hash of the requested change; absent if there is none, zero at position 0. */
  readonly hashAt?: Uint8Array;
}

export interface Quota extends FieldsOf<typeof QUOTA> {}

export interface TenantStatus extends FieldsOf<typeof TENANT_STATUS> {}

export interface StoreStatus extends FieldsOf<typeof STORE_STATUS> {
  readonly losses: readonly StoreLoss[];
}

/** A follower, as seen by a node that reads there. */
export interface FollowerStatus extends FieldsOf<typeof FOLLOWER_STATUS> {}

/**
 * The reason of a deletion for re-import: the session is stored again under the same id from the
 * same files, whose bytes stay.
 */
export const REIMPORT = "reimport";

/** The tombstone of a deleted session. */
export interface Tombstone extends Omit<FieldsOf<typeof TOMBSTONE>, "digest"> {
  readonly digest: Uint8Array;
}

/** One row of one table, for backups and for moving a store to another backend. */
export type Row = Readonly<Record<string, string | number | Uint8Array | null>>;

export interface RowBatch {
  readonly table: string;
  readonly rows: readonly Row[];
}
