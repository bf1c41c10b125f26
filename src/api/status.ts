/** The status of a store, on the wire. */

import type { StoreLoss } from "../model/store-loss.ts";
import type { IndexStatus, VectorStatus } from "../store/index/index-status.ts";
import type { FollowerStatus, StoreStatus, TenantStatus } from "../store/records.ts";
import { hidePasswords } from "./address.ts";
import { fromWireTime, toWireTime } from "./wire.ts";

export interface WireIndexStatus {
  readonly lag: number;
  readonly segments: number;
  readonly documents: number;
  readonly bytes: number;
  readonly vectors: WireVectorStatus | null;
}

export interface WireTenantStatus {
  readonly tenant: string;
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly content_bytes: number;
  /** Open messages, including those of dead writers. */
  readonly pending: number;
  readonly memories: number;
  readonly facts: number;
  readonly feed_position: number;
  readonly feed_head: string;
  /** Unindexed changes, and the size of the segments. */
  readonly index: WireIndexStatus;
  readonly quota: {
    readonly max_sessions: number | null;
    readonly max_entries: number | null;
    readonly max_content_bytes: number | null;
  };
}

/** A hot standby for reads. */
export interface WireFollowerStatus {
  readonly address: string;
  /** Whether it answered the last probe. */
  readonly is_there: boolean;
  /** Changes that it lacks, and how long it has lacked the oldest. */
  readonly behind: number;
  readonly lag_ms: number;
}

/** `commits` and `kept` are of a damaged write-ahead log, `tenant` and `changes` of an index. */
export interface WireLoss {
  readonly kind: StoreLoss["kind"];
  readonly found_at: string;
  readonly commits: number | null;
  /** The file that holds the whole log. */
  readonly kept: string | null;
  readonly tenant: string | null;
  readonly changes: number | null;
}

export interface WireStatus {
  readonly backend: StoreStatus["backend"];
  readonly address: string;
  readonly schema_version: number;
  readonly epoch: string;
  /** Bytes on disk, the write-ahead log apart. */
  readonly database_bytes: number;
  readonly wal_bytes: number;
  /** Unacknowledged losses. */
  readonly losses: readonly WireLoss[];
  /** The followers of this node, if configured. */
  readonly followers: readonly WireFollowerStatus[];
  readonly tenants: readonly WireTenantStatus[];
}

export function toWireStatus(status: StoreStatus): WireStatus {
  return {
    backend: status.backend,
    address: hidePasswords(status.address),
    schema_version: status.schemaVersion,
    epoch: status.epoch,
    database_bytes: status.databaseBytes,
    wal_bytes: status.walBytes,
    losses: status.losses.map(toWireLoss),
    followers: status.followers.map(toWireFollower),
    tenants: status.tenants.map(toWireTenantStatus),
  };
}

function toWireFollower(follower: FollowerStatus): WireFollowerStatus {
  const { address, isThere, behind, lagMs } = follower;
  return { address: hidePasswords(address), is_there: isThere, behind, lag_ms: lagMs };
}

function fromWireFollower(follower: WireFollowerStatus): FollowerStatus {
  const { address, is_there: isThere, behind, lag_ms: lagMs } = follower;
  return { address, isThere, behind, lagMs };
}

export function toWireLoss(loss: StoreLoss): WireLoss {
  const found_at = toWireTime(loss.foundAt);
  if (loss.kind === "log") {
    const { kind, commits, kept } = loss;
    return { kind, found_at, commits, kept, tenant: null, changes: null };
  }
  const { kind, tenant, changes } = loss;
  return { kind, found_at, commits: null, kept: null, tenant, changes };
}

export function fromWireLoss(loss: WireLoss): StoreLoss {
  const foundAt = fromWireTime(loss.found_at);
  if (loss.kind === "log") {
    return { kind: "log", foundAt, commits: loss.commits ?? 0, kept: loss.kept };
  }
  return { kind: loss.kind, foundAt, tenant: loss.tenant ?? "", changes: loss.changes ?? 0 };
}

export function toWireTenantStatus(status: TenantStatus): WireTenantStatus {
  return {
    tenant: status.tenant,
    sessions: status.sessions,
    entries: status.entries,
    messages: status.messages,
    content_bytes: status.contentBytes,
    pending: status.pending,
    memories: status.memories,
    facts: status.facts,
    feed_position: status.feedPosition,
    feed_head: status.feedHead,
    index: toWireIndexStatus(status.index),
    quota: {
      max_sessions: status.quota.maxSessions,
      max_entries: status.quota.maxEntries,
      max_content_bytes: status.quota.maxContentBytes,
    },
  };
}

export function toWireIndexStatus(
  status: Pick<IndexStatus, keyof WireIndexStatus>,
): WireIndexStatus {
  const { lag, segments, documents, bytes, vectors } = status;
  const embedded = vectors === null ? null : toWireVectorStatus(vectors);
  return { lag, segments, documents, bytes, vectors: embedded };
}

/** The full status of an index, for operators. */
export interface WireIndexReport extends WireIndexStatus {
  readonly version: number;
  readonly through: number;
  readonly head: number;
  readonly position_bytes: number;
  readonly dead: number;
  readonly analyzers: readonly string[];
  readonly holder: string | null;
  readonly failure: string | null;
}

/** The progress of vectors. */
export interface WireVectorStatus {
  readonly embedder: string;
  readonly dimensions: number;
  readonly through: number;
  readonly lag: number;
  readonly gaps: readonly { readonly from: number; readonly to: number }[];
  readonly vectors: number;
  readonly segments: number;
  readonly bytes: number;
}

export function toWireIndexReport(status: IndexStatus): WireIndexReport {
  const { version, through, head, dead, analyzers, holder, positionBytes, failure } = status;
  return {
    ...toWireIndexStatus(status),
    version,
    through,
    head,
    position_bytes: positionBytes,
    dead,
    analyzers,
    holder,
    failure: failure ?? null,
  };
}

function toWireVectorStatus(status: VectorStatus): WireVectorStatus {
  const { embedder, dimensions, through, lag, gaps, vectors, segments, bytes } = status;
  return { embedder, dimensions, through, lag, gaps, vectors, segments, bytes };
}

export function fromWireIndexReport(report: WireIndexReport): IndexStatus {
  const { position_bytes: positionBytes, failure, ...same } = report;
  return { ...same, positionBytes, ...(failure === null ? {} : { failure }) };
}

export function fromWireStatus(status: WireStatus): StoreStatus {
  return {
    backend: status.backend,
    address: status.address,
    schemaVersion: status.schema_version,
    epoch: status.epoch,
    databaseBytes: status.database_bytes,
    walBytes: status.wal_bytes,
    losses: status.losses.map(fromWireLoss),
    followers: status.followers.map(fromWireFollower),
    tenants: status.tenants.map(fromWireTenantStatus),
  };
}

export function fromWireTenantStatus(status: WireTenantStatus): TenantStatus {
  return {
    tenant: status.tenant,
    sessions: status.sessions,
    entries: status.entries,
    messages: status.messages,
    contentBytes: status.content_bytes,
    pending: status.pending,
    memories: status.memories,
    facts: status.facts,
    feedPosition: status.feed_position,
    feedHead: status.feed_head,
    index: status.index,
    quota: {
      maxSessions: status.quota.max_sessions,
      maxEntries: status.quota.max_entries,
      maxContentBytes: status.quota.max_content_bytes,
    },
  };
}
