/**
 * The store port.
 *
 * Each mutation is one coarse operation, and one transaction. There is no `transaction(callback)`:
 * an `await` inside a transaction on a shared connection would let another caller's acknowledged
 * write be rolled back with it. Every backend passes `store.cases.ts`.
 *
 * Every operation is scoped by a tenant's name, given by the host, except the few that concern the
 * whole store. An id of another tenant does not exist. Operations throw `BackscrollError` with a
 * code and leave the store unchanged when they do.
 */

import type { AccessToken } from "../model/access.ts";
import type { ChangeAuthor } from "../model/change.ts";
import type { Fact, Memory } from "../model/note.ts";
import type { RouteSession, SessionRoute } from "../model/route.ts";
import type { Session } from "../model/session.ts";
import type { StoreLoss } from "../model/store-loss.ts";
import type { MaintenanceReport, MaintenanceTask } from "../search/port.ts";
import type {
  FoundLines,
  LinesRequest,
  NoteSearchAnswer,
  NoteSearchRequest,
  PiecesAnswer,
  PiecesRequest,
  SearchAnswer,
  SearchRequest,
  TextRequest,
  TextSessions,
} from "../search/request.ts";
import type { EntryPage, EntryQuery } from "./entry-query.ts";
import type { IndexStatus } from "./index/index-status.ts";
import type { IndexSetting } from "./index/stored-indexing.ts";
import type { IngestedFile, OriginalReads, OriginalWrites } from "./ingested-file.ts";
import type { RecordReads, RecordWrites } from "./record/record-port.ts";
import type {
  AppendRequest,
  AppendResult,
  ChangePage,
  EntryRecord,
  EntryUsage,
  FeedHead,
  ForkRequest,
  ModelCount,
  MoveLeafRequest,
  NewFact,
  NewMemory,
  NewSession,
  Quota,
  RowBatch,
  SessionFilter,
  SessionPage,
  SessionPatch,
  SessionPosition,
  SessionSize,
  StoreStatus,
  Tombstone,
  UsageSum,
} from "./records.ts";
import type {
  AbortStreamRequest,
  CommitStreamRequest,
  EraseRequest,
  EraseResult,
  NewToken,
  OpenStreamRequest,
  PatchRouteRequest,
  PendingRecord,
  PutRouteRequest,
  RetentionDue,
  SweepRequest,
  SweepResult,
  TokenRecord,
  WriteStreamRequest,
} from "./requests.ts";
import type { SessionRef } from "./session-ref.ts";

export type { Durability, StoreOptions } from "./store-options.ts";

/**
 * Mutations. Each that changes content writes at least one change to the feed in its own
 * transaction.
 */
export interface StoreWrites extends OriginalWrites, RecordWrites {
  /**
   * Throws `session_exists` if the id or the origin's key is taken; with `orExisting` it gives the
   * session with the key. Replayed under an idempotency key, it gives the session.
   */
  createSession(tenant: string, session: NewSession): Promise<Session>;
  updateSession(tenant: string, id: string, patch: SessionPatch, now: number): Promise<Session>;
  /**
   * Purges the session and everything derived from it; leaves a tombstone. It may take several
   * transactions: from the first on the session is not found, and a sweep finishes an interrupted
   * purge.
   */
  deleteSession(
    tenant: string,
    id: string,
    reason: string,
    now: number,
    by?: ChangeAuthor,
  ): Promise<Tombstone>;

  /**
   * Atomic. Actors join the participants; counters and times are updated in the same transaction.
   */
  append(tenant: string, request: AppendRequest): Promise<AppendResult>;
  moveLeaf(tenant: string, request: MoveLeafRequest): Promise<void>;
  setPinned(
    tenant: string,
    sessionId: string,
    entryId: string,
    pinned: boolean,
    now: number,
  ): Promise<void>;
  /** Copies the path to `through` into a new session, with `copiedFrom` and the same contents. */
  forkSession(tenant: string, request: ForkRequest): Promise<Session>;

  /**
   * Erases the content of entries, their payloads and the facts extracted from them, and writes
   * their ids to the feed. Idempotent. Copies in forks are separate entries.
   */
  eraseContent(tenant: string, request: EraseRequest): Promise<EraseResult>;

  /**
   * Creates a pending message: an id, a lease and no place in the tree. Replayed under an
   * idempotency key it gives the pending message to the new holder.
   */
  openStream(tenant: string, request: OpenStreamRequest): Promise<{ readonly id: string }>;
  /** Adds a chunk and renews the lease. Throws `stream_lost` if another holder has it. */
  writeStream(tenant: string, request: WriteStreamRequest): Promise<void>;
  /** Folds the chunks and places the message. Throws `stream_lost` if it was aborted meanwhile. */
  commitStream(tenant: string, request: CommitStreamRequest): Promise<AppendResult>;
  /** Stores the chunks so far as an aborted entry. */
  abortStream(tenant: string, request: AbortStreamRequest): Promise<AppendResult>;

  putMemory(tenant: string, memory: NewMemory): Promise<Memory>;
  deleteMemory(tenant: string, agent: string, name: string, now: number): Promise<void>;
  addFacts(
    tenant: string,
    sessionId: string,
    facts: readonly NewFact[],
    now: number,
  ): Promise<readonly Fact[]>;
  /** `by` null deletes the fact, otherwise that one supersedes it. */
  retireFact(tenant: string, id: string, by: string | null, now: number): Promise<void>;

  /**
   * Stores read offsets of a workstation's files. Not in the feed; losing them costs another
   * reading.
   */
  putIngestedFiles(
    tenant: string,
    workstation: string,
    files: readonly IngestedFile[],
    now: number,
  ): Promise<void>;

  setQuota(tenant: string, quota: Quota, now: number, by?: ChangeAuthor): Promise<void>;

  /** Writes a change for an act without another row. */
  noteAct(tenant: string, act: string, now: number, by?: ChangeAuthor): Promise<void>;

  createToken(tenant: string, token: NewToken, by?: ChangeAuthor): Promise<AccessToken>;
  /**
   * Throws `token_not_found` if the tenant has no such token. A second revocation keeps the first
   * one's time and adds no change.
   */
  revokeToken(tenant: string, id: string, now: number, by?: ChangeAuthor): Promise<AccessToken>;

  /**
   * Points a key at a session, by compare-and-swap on the route's version. Throws
   * `session_not_found` if the session neither exists nor is created with it, `route_conflict` if
   * the route has changed.
   */
  putRoute(tenant: string, request: PutRouteRequest): Promise<SessionRoute>;
  /** Changes fields of an existing route; throws `session_key_not_found`. */
  patchRoute(tenant: string, request: PatchRouteRequest): Promise<SessionRoute>;
  /** Deletes a route with its history. The sessions stay. */
  deleteRoute(tenant: string, key: string, now: number, by?: ChangeAuthor): Promise<void>;

  /**
   * Takes the lease `name` of the store for `durationMs` from now, by the database's clock, if it
   * is free, held by `owner`, or expired. False if another owner holds it. Not in the feed.
   */
  takeLease(name: string, owner: string, durationMs: number): Promise<boolean>;
  /** Releases a lease; no effect if `owner` does not hold it. */
  dropLease(name: string, owner: string): Promise<void>;

  /** Deletes rows whose TTL has passed, aborts messages of dead writers, collects garbage. */
  sweep(request: SweepRequest): Promise<SweepResult>;
}

/** Reads. None of them writes, migrates or aborts anything. */
export interface StoreReads extends OriginalReads, RecordReads {
  findSession(tenant: string, id: string): Promise<Session | undefined>;
  findSessionByOrigin(tenant: string, key: string): Promise<Session | undefined>;
  /**
   * The sessions whose short id or agent's own id is `ref`, or has it as a prefix: at most
   * `MAX_REFS` of each kind.
   */
  findSessionRefs(tenant: string, ref: string): Promise<readonly SessionRef[]>;
  /**
   * Usage in some sessions, by model and quarter of an hour. Copies in forks are left out: they
   * were billed once.
   */
  readUsage(tenant: string, sessionIds: readonly string[]): Promise<readonly UsageSum[]>;
  /** The number of these sessions per model of their messages. */
  countModels(tenant: string, sessionIds: readonly string[]): Promise<readonly ModelCount[]>;
  /** `next` is the start of the following page, absent on the last one. */
  listSessions(
    tenant: string,
    filter: SessionFilter,
    page: SessionPage,
  ): Promise<{ readonly sessions: readonly Session[]; readonly next?: SessionPosition }>;
  /** Sizes of those sessions that exist, in no order. */
  readSessionSizes(tenant: string, ids: readonly string[]): Promise<readonly SessionSize[]>;
  findTombstone(tenant: string, sessionId: string): Promise<Tombstone | undefined>;
  /** The newest deleted session of the origin. */
  findTombstoneByOrigin(tenant: string, key: string): Promise<Tombstone | undefined>;
  /** The paths that were read, in no order. The state is null unless requested. */
  findIngestedFiles(
    tenant: string,
    workstation: string,
    paths: readonly string[],
    withState?: boolean,
  ): Promise<readonly IngestedFile[]>;

  /**
   * Throws `session_not_found` or, for an unknown leaf or entry, `entry_not_found`; `store_corrupt`
   * if an entry does not match its hash, or the page is incomplete.
   */
  readEntries(tenant: string, query: EntryQuery): Promise<EntryPage>;
  /**
   * The entries with these ids, in the order of the ids; unknown ones are left out. `isRaw`: as
   * stored, unchecked.
   */
  findEntries(
    tenant: string,
    ids: readonly string[],
    payloads: boolean,
    isRaw?: boolean,
  ): Promise<EntryPage>;
  /** The existing ones of these entries with their usage, without reading content. */
  findUsage(tenant: string, ids: readonly string[]): Promise<readonly EntryUsage[]>;
  findPending(tenant: string, id: string): Promise<PendingRecord | undefined>;
  /** The leaves of the session's branches, newest branch first. */
  listLeaves(tenant: string, sessionId: string, limit: number): Promise<readonly EntryRecord[]>;

  /**
   * Sessions with a compaction whose retention is not applied yet: one of them, or a page by id.
   */
  listRetentionDue(
    tenant: string,
    which: { readonly sessionId: string } | { readonly after?: string; readonly limit: number },
  ): Promise<readonly RetentionDue[]>;

  findMemory(tenant: string, agent: string, name: string): Promise<Memory | undefined>;
  /** By agent and name, after the given pair. */
  listMemories(
    tenant: string,
    agent: string | undefined,
    after: { readonly agent: string; readonly name: string } | undefined,
    limit: number,
  ): Promise<readonly Memory[]>;
  findFact(tenant: string, id: string): Promise<Fact | undefined>;
  /** By id, after the given one. */
  listFacts(
    tenant: string,
    sessionId: string | undefined,
    after: string | undefined,
    limit: number,
    superseded: boolean,
  ): Promise<readonly Fact[]>;

  /** The token with this id, of any tenant: it identifies the caller's tenant. */
  findToken(id: string): Promise<TokenRecord | undefined>;
  /** By id, after the given one. Expired and revoked ones included. */
  listTokens(
    tenant: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly AccessToken[]>;

  findRoute(tenant: string, key: string): Promise<SessionRoute | undefined>;
  /** By key, after the given one. */
  listRoutes(
    tenant: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly SessionRoute[]>;
  /**
   * The current and past sessions of a key, newest first; with `before`, only those of lower
   * versions.
   */
  listRouteSessions(
    tenant: string,
    key: string,
    before: number | undefined,
    limit: number,
  ): Promise<readonly RouteSession[]>;
  /** The current and past keys of a session, newest first. */
  listSessionRoutes(
    tenant: string,
    sessionId: string,
    limit: number,
  ): Promise<readonly RouteSession[]>;

  /** The feed's end, and the hash of its change at `position`. */
  feedHead(tenant: string, position?: number): Promise<FeedHead>;
  /** Changes after a position, in order. Scans a bounded number of rows, whatever the filter. */
  listChanges(
    tenant: string,
    after: number,
    limit: number,
    sessionId: string | undefined,
  ): Promise<ChangePage>;

  /** The index's progress; zeros for a tenant without an index. */
  indexStatus(tenant: string): Promise<IndexStatus>;

  listTenants(): Promise<readonly string[]>;
  status(): Promise<StoreStatus>;
  /** The backend's own check of its files. Empty if no problem is found. */
  checkIntegrity(): Promise<readonly string[]>;
}

/** The index. It is derived: its damage fails no write and no other read, and backups omit it. */
export interface StoreIndex {
  /**
   * Runs one search in one snapshot. Searches of several tenants take turns. When `signal` is
   * aborted it rejects with the signal's reason, and its work stops soon after.
   */
  search(tenant: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchAnswer>;
  /** The same for memories and facts: gives their keys. */
  searchNotes(tenant: string, request: NoteSearchRequest): Promise<NoteSearchAnswer>;
  /** The sessions that may have a text, all of them over several calls, each in one snapshot. */
  findSessionsWithText(tenant: string, request: TextRequest): Promise<TextSessions>;
  /** The messages that changed lines, by the hashes of these. */
  findLines(tenant: string, request: LinesRequest): Promise<FoundLines>;
  /** The pieces to embed after a position of the feed, with secrets masked. */
  readPieces(tenant: string, request: PiecesRequest): Promise<PiecesAnswer>;
  /**
   * One bounded maintenance step under the tenant's lease. `busy` if another process holds the
   * lease. Does not block reads and writes.
   */
  maintain(tenant: string, task: MaintenanceTask): Promise<MaintenanceReport>;
}

export interface ConnectionFigures {
  readonly open: number;
  /** Of the open ones. */
  readonly idle: number;
  /** Callers that wait for one. */
  readonly waiting: number;
  /** Transactions that were repeated since the start: after a conflict, or a lost connection. */
  readonly retries: number;
}

export interface Store extends StoreWrites, StoreReads, StoreIndex {
  /**
   * The same store for read-only calls: followers may answer them, with the caller's own writes
   * included. Absent without followers.
   */
  readonly reader?: Store;
  /**
   * Incremented when the store switches to another server, whose feed may lack recent changes.
   * Absent for a file.
   */
  switches?(): number;
  /** What the connections to a database server do at this moment. Absent for a file. */
  connections?(): ConnectionFigures;
  /** Wrong settings of the database server, with remedies. Absent without a server. */
  advise?(): Promise<readonly string[]>;
  /** Calls `listener` soon after a commit of any process. */
  onChange(listener: () => void): () => void;
  /** Every row of every table in one snapshot, in batches, in an order that `load` accepts. */
  dump(): AsyncIterable<RowBatch>;
  /**
   * Fills an empty store with the rows of another one, atomically, and starts a new epoch. Throws
   * `store_not_empty` if a tenant exists.
   */
  load(batches: AsyncIterable<RowBatch>): Promise<void>;
  /**
   * Acknowledges the losses that `status` lists, so that they are no longer reported. Kept logs
   * stay in place; an index that was ahead is rebuilt. Gives the acknowledged losses.
   */
  acceptLosses(): Promise<readonly StoreLoss[]>;
  /** The text analysis of the index: one setting for every process. */
  indexSetting(): Promise<IndexSetting>;
  /** Changes it. The following maintenance rebuilds segments of another setting. */
  setIndexing(change: Partial<IndexSetting>): Promise<IndexSetting>;
  close(): Promise<void>;
}
