/**
 * The port between the index and a store.
 *
 * The index is pure: its searches, flushes and merges are generators that yield *needs* and are
 * resumed with answers. A backend answers from one snapshot, synchronously (SQLite) or not
 * (PostgreSQL); `drive.ts` has both loops. So both backends run the same code to the last digit.
 *
 * The change feed is the index's tail. The commit itself assigns the position of a feed row, in
 * commit order and without gaps, and every indexed item has a row. So the unindexed part is the
 * feed after `Manifest.through`: an append writes nothing extra, a message is findable the moment
 * its append returns, and a crash cannot leave messages and index apart. Every segment stands for a
 * range of the feed, and is rebuilt by reading that range again.
 */

import type { Block } from "../model/block.ts";
import type { EntryKind, EntryStatus, Role } from "../model/entry.ts";
import type { StoredMark } from "../model/mark.ts";
import type { StoredFields } from "../model/session-filters.ts";
import type { AddVectorsTask, StartVectorsTask, VectorIndex } from "./vectors/vector-port.ts";

/** One immutable segment: the feed's changes in `(from, to]`, as of the snapshot `builtAt`. */
export interface SegmentInfo {
  /** Random, so that no two processes choose the same. */
  readonly segment: number;
  readonly from: number;
  readonly to: number;
  /** Deletions and erasures up to this position of the feed are applied. */
  readonly builtAt: number;
  /** The version of the analyzer, and its setting. Another segment answers until it is rebuilt. */
  readonly analyzer: string;
  /** The version of what is indexed: see `isCurrent`. Absent: 0.1.0 wrote or merged it. */
  readonly selection?: number;
  readonly documents: number;
  readonly bytes: number;
  /** The part of `bytes` that only phrase queries need. */
  readonly positionBytes: number;
  /** The manifest version that first named it. Absent: older than this field. */
  readonly namedIn?: number;
}

/** A deleted session whose documents a segment may still hold. */
export interface DeadSession {
  readonly session: number;
  /** When it was deleted. */
  readonly at: number;
  /** The position of its deletion. */
  readonly position: number;
}

/** Erased messages that a segment may still hold. */
export interface ErasedMessages {
  readonly session: number;
  /** Their range of sequences: all messages in it. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  /** The position of the erasure's change. */
  readonly position: number;
}

/** The parts of one tenant's index. Replaced as a whole, by compare-and-swap. */
export interface Manifest {
  /** The number of swaps. 0: no manifest yet. */
  readonly version: number;
  /** The indexed position of the feed. */
  readonly through: number;
  /** In feed order: each begins where the previous one ends, the first at 0. */
  readonly segments: readonly SegmentInfo[];
  readonly dead: readonly DeadSession[];
  readonly erased: readonly ErasedMessages[];
  /** Absent: the store has no vectors. */
  readonly vectors?: VectorIndex;
}

/** The numbers of all segments that a manifest names, of words and of vectors. */
export function namedSegments({ segments, vectors }: Manifest): number[] {
  return [...segments, ...(vectors?.segments ?? [])].map(({ segment }) => segment);
}

export const EMPTY_MANIFEST: Manifest = {
  version: 0,
  through: 0,
  segments: [],
  dead: [],
  erased: [],
};

/** The current state of an entry named in the feed. */
export interface FeedEntry {
  readonly position: number;
  readonly session: number;
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  readonly kind: EntryKind;
  readonly role: Role | null;
  readonly status: EntryStatus;
  readonly actor: string | null;
  readonly createdAt: number;
  /** JSON text, or null. */
  readonly metadata: string | null;
  /** A large payload that was not requested is represented by its head. */
  readonly blocks: readonly Block[];
}

/** The current text of a session outside its entries. */
export interface FeedSession {
  readonly position: number;
  readonly session: number;
  readonly title: string | null;
  readonly summary: string | null;
  readonly agent: string;
  readonly startedAt: number;
  readonly projectPath: string | null;
  /** `machineMade` in its metadata: a program's own session. */
  readonly machineMade: boolean;
}

export interface FeedMemory {
  readonly position: number;
  readonly agent: string;
  readonly name: string;
  /** Null: deleted. */
  readonly content: string | null;
}

export interface FeedFact {
  readonly position: number;
  readonly id: string;
  /** The fact's session, with which it is deleted. Null: the fact is deleted. */
  readonly session: number | null;
  /** Null: deleted or superseded. */
  readonly text: string | null;
}

/** A range of the feed, with the current state of its entries and notes. */
export interface FeedSlice {
  /**
   * The last scanned position: `after` of the next slice. A slice may end before `limit`, where its
   * contents are large.
   */
  readonly through: number;
  /** The feed's end in this snapshot. */
  readonly head: number;
  /** In feed order, without deleted sessions and erased content. */
  readonly entries: readonly FeedEntry[];
  /** Created, updated or summarised sessions, each once, at its last such position. */
  readonly sessions: readonly FeedSession[];
  readonly memories: readonly FeedMemory[];
  readonly facts: readonly FeedFact[];
  readonly deleted: readonly DeadSession[];
  readonly erased: readonly ErasedMessages[];
  /** Sessions whose active path may have changed, also by appends. */
  readonly touched: readonly number[];
}

/**
 * The active path of a session: an entry is on it if a range has its chain and reaches its depth.
 */
export interface SessionPath {
  readonly session: number;
  /** True: every committed message is on it, because the session never branched. */
  readonly isWhole: boolean;
  readonly ranges: readonly { readonly chain: number; readonly maxDepth: number }[];
}

type Filters = StoredFields<"search">;

/** The sessions in scope. All given conditions must hold; within a list, one must. */
export type SessionCondition = {
  readonly [Name in keyof Filters]?: readonly NonNullable<Filters[Name]>[];
};

/** The part of a session around a hit: messages on the path through one entry. */
export interface WindowRequest {
  readonly session: number;
  /** The entry that must be in the window. 0: none; the window is the start of the active path. */
  readonly sequence: number;
  readonly before: number;
  readonly after: number;
  /** The session's head from an earlier window if still valid, to save a read. */
  readonly head?: WindowHead;
}

/** The shown fields of a session, and its active leaf. */
export interface WindowHead {
  readonly sessionId: string;
  readonly shortId: string;
  readonly title: string | null;
  readonly agent: string;
  /** Its repository, else its project; "": neither. What its statements are about. */
  readonly place: string;
  /** Its owner, who speaks in it; null: a program does, as to a sub-agent. */
  readonly speaker: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly messageCount: number;
  /** Null in an empty session. */
  readonly active: {
    readonly id: string;
    readonly chain: number;
    readonly depth: number;
    readonly ordinal: number;
  } | null;
  /** The ends of the branches of late files; usually none. */
  readonly lateLeaves: readonly string[];
  /** The session's marks that stand; usually none. */
  readonly marks: readonly StoredMark[];
}

export interface WindowEntry {
  readonly id: string;
  readonly sequence: number;
  /** Zero-based index on its path, the offset of `listMessages`. */
  readonly index: number;
  readonly role: Role | null;
  readonly actor: string | null;
  readonly createdAt: number;
  /** The original of this copy, in a fork. */
  readonly copiedFrom: string | null;
  readonly blocks: readonly Block[];
  /** True: erased. It is shown as a neighbour, and is never a hit. */
  readonly erased: boolean;
  /** True: a large payload was not read, and its head represents it. */
  readonly truncated: boolean;
}

export interface Window {
  readonly head: WindowHead;
  /** The leaf of the path that the indexes count on; null in an empty session. */
  readonly leaf: string | null;
  /** In path order. Empty if the entry is deleted. */
  readonly entries: readonly WindowEntry[];
}

/**
 * `flush` moves the tail into a segment, `merge` merges segments where due, `maintain` does both as
 * due, `purge` rewrites segments that may hold deleted text.
 */
export type MaintenanceTask =
  | ("flush" | "merge" | "maintain" | "purge")
  | RebuildTask
  | StartVectorsTask
  | AddVectorsTask;

/**
 * Rebuilds every segment that a manifest up to this version has named, one per step, so that an
 * interrupted rebuild continues and ends.
 */
export interface RebuildTask {
  readonly rebuildThrough: number;
}

export interface MaintenanceReport {
  /** Another process held the lease or swapped first: no effect. */
  readonly busy: boolean;
  /** The task needs further steps. */
  readonly more: boolean;
  /** The indexed position, and the feed's end. */
  readonly through: number;
  readonly head: number;
  /** Documents written into new segments. */
  readonly documents: number;
}

export type Need =
  /** Begins a new snapshot, so that earlier reads must be repeated. */
  | { readonly need: "manifest" }
  | {
      readonly need: "feed";
      readonly after: number;
      readonly limit: number;
      /** Reads from a new snapshot; by default all slices of a computation share the first one's. */
      readonly now?: boolean;
      /** Reads large payloads of blocks of these types. Default: all. */
      readonly whole?: readonly Block["type"][];
    }
  | { readonly need: "blobs"; readonly keys: readonly BlobKey[] }
  | { readonly need: "paths"; readonly sessions: readonly number[] }
  | { readonly need: "scope"; readonly scope: SessionCondition }
  /** The number of the tenant's sessions. */
  | { readonly need: "sessionCount" }
  | { readonly need: "windows"; readonly windows: readonly WindowRequest[] }
  /**
   * Stores blobs of a new segment, which are durable before a manifest names them. The caller must
   * not change the buffers afterwards.
   */
  | {
      readonly need: "write";
      readonly segment: number;
      readonly blobs: readonly { readonly blob: number; readonly bytes: Uint8Array }[];
    }
  /**
   * Compare-and-swap: replaces the manifest if its version is still `expected`. Segments that it no
   * longer names may be deleted.
   */
  | { readonly need: "swap"; readonly expected: number; readonly manifest: Manifest }
  /**
   * A yield point: yields the thread, renews a lease, reports progress, or cancels. `gentle`:
   * background work.
   */
  | {
      readonly need: "yield";
      readonly done?: number;
      readonly total?: number;
      readonly gentle?: true;
    };

/** A segment is stored as numbered blobs; 0 is its header. */
export interface BlobKey {
  readonly segment: number;
  readonly blob: number;
}

/** `missing`: not stored. `damaged`: its checksum is wrong. */
export type BlobAnswer = Uint8Array | "missing" | "damaged";

/** The type of the answer to each need. */
export interface Answers {
  readonly manifest: Manifest;
  readonly feed: FeedSlice;
  readonly blobs: readonly BlobAnswer[];
  readonly paths: readonly SessionPath[];
  /** The numbers of the sessions in scope, ascending. */
  readonly scope: Uint32Array;
  readonly sessionCount: number;
  /** In request order; undefined for a deleted session. */
  readonly windows: readonly (Window | undefined)[];
  readonly write: undefined;
  /** False: another process swapped first. */
  readonly swap: boolean;
  readonly yield: undefined;
}

/** A computation of the index that yields its reads and writes. */
export type SansIo<Result> = Generator<Need, Result, Answers[keyof Answers]>;

/** Yields one need, with the type of its answer. */
export function* ask<Kind extends Need["need"]>(
  need: Extract<Need, { need: Kind }>,
): Generator<Need, Answers[Kind], Answers[keyof Answers]> {
  return (yield need) as Answers[Kind];
}
