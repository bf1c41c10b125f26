/** The store on SQLite: one file, many processes. */

import { BackscrollError } from "../../model/errors.ts";
import { MAX_DELETED_ENTRIES } from "../../model/limits.ts";
import type { StoreLoss } from "../../model/store-loss.ts";
import type { MaintenanceReport } from "../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../search/request.ts";
import type { IndexSetting } from "../index/stored-indexing.ts";
import { bytesOfAppend, changesOfAppend, Indexer } from "../indexer.ts";
import type { RowBatch, StoreStatus } from "../records.ts";
import type { Store } from "../store.ts";
import { openForReading } from "../store-errors.ts";
import { MEMORY } from "../store-options.ts";
import { type Purging, withPurge } from "../with-purge.ts";
import { closeAll } from "./close-all.ts";
import { CommitSignal } from "./commit-signal.ts";
import { dumpRows, loadRows } from "./dump.ts";
import type {
  Executor,
  ExecutorOptions,
  ReadArguments,
  WriteArguments,
} from "./executor/executor.ts";
import { readSetting, writeSetting } from "./index/setting.ts";
import { listKeptLosses } from "./opening/kept-logs.ts";
import { acceptLosses, type OpenedFile, withoutBusy } from "./opening/open-file.ts";
import type { READS, ReadName, WRITES, WriteName } from "./operations/index.ts";
import { SqliteConnection } from "./sqlite-driver.ts";
import { isEntryTaken } from "./sqlite-errors.ts";

/** The writes whose first argument is the indexed tenant. */
type TenantWrite = Exclude<WriteName, "sweep" | "takeLease" | "dropLease">;

export class SqliteStore implements Store {
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #busyTimeoutMs: number;
  readonly #executor: Executor;
  readonly #indexer: Indexer;
  /** Undefined in memory. */
  readonly #opened: OpenedFile | undefined;
  readonly #signal: CommitSignal;
  readonly #purge: Purging;
  #closed = false;

  /** `flushAt` 0: the index is maintained only on request. */
  constructor(executor: Executor, options: ExecutorOptions, flushAt: number, opened?: OpenedFile) {
    this.#executor = executor;
    this.#purge = { isEntryTaken, purgeDeleted: (tenant) => this.#purgeDeleted(tenant) };
    const store = {
      maintenance: (tenant: string, unreadable: readonly number[]) =>
        executor.maintain(tenant, "maintain", unreadable),
      flush: (tenant: string) => executor.maintain(tenant, "flush", []),
      lag: (tenant: string) => executor.read("indexLag", [tenant]),
      stop: () => executor.stopMaintenance(),
    };
    this.#indexer = new Indexer(store, { flushAt, shortLived: executor.inThread });
    this.#signal = new CommitSignal(() => executor.read("dataVersion", []));
    this.#opened = opened;
    this.#path = options.path;
    this.#readOnly = options.readOnly;
    this.#busyTimeoutMs = options.busyTimeoutMs;
  }

  createSession: Store["createSession"] = (tenant, session) =>
    withPurge(this.#purge, tenant, () => this.#write("createSession", [tenant, session]));

  updateSession: Store["updateSession"] = (tenant, id, patch, now) =>
    this.#write("updateSession", [tenant, id, patch, now]);

  deleteSession: Store["deleteSession"] = async (tenant, id, reason, now, by) => {
    const tombstone = await this.#write("deleteSession", [tenant, id, reason, now, by]);
    if (tombstone.entryCount > MAX_DELETED_ENTRIES) await this.#purgeDeleted(tenant);
    return tombstone;
  };

  append: Store["append"] = (tenant, request) => {
    const bytes = bytesOfAppend(request);
    return withPurge(this.#purge, tenant, () =>
      this.#write("append", [tenant, request], changesOfAppend(request), bytes),
    );
  };

  moveLeaf: Store["moveLeaf"] = (tenant, request) => this.#write("moveLeaf", [tenant, request]);

  setPinned: Store["setPinned"] = (tenant, sessionId, entryId, pinned, now) =>
    this.#write("setPinned", [tenant, sessionId, entryId, pinned, now]);

  forkSession: Store["forkSession"] = (tenant, request) =>
    withPurge(this.#purge, tenant, () => this.#write("forkSession", [tenant, request], "many"));

  eraseContent: Store["eraseContent"] = (tenant, request) =>
    this.#write("eraseContent", [tenant, request]);

  openStream: Store["openStream"] = (tenant, request) =>
    this.#write("openStream", [tenant, request]);

  writeStream: Store["writeStream"] = (tenant, request) =>
    this.#write("writeStream", [tenant, request]);

  commitStream: Store["commitStream"] = (tenant, request) =>
    this.#write("commitStream", [tenant, request]);

  abortStream: Store["abortStream"] = (tenant, request) =>
    this.#write("abortStream", [tenant, request]);

  putMemory: Store["putMemory"] = (tenant, memory) => this.#write("putMemory", [tenant, memory]);

  deleteMemory: Store["deleteMemory"] = (tenant, agent, name, now) =>
    this.#write("deleteMemory", [tenant, agent, name, now]);

  addFacts: Store["addFacts"] = (tenant, sessionId, facts, now) =>
    this.#write("addFacts", [tenant, sessionId, facts, now]);

  retireFact: Store["retireFact"] = (tenant, id, by, now) =>
    this.#write("retireFact", [tenant, id, by, now]);

  writeRecords: Store["writeRecords"] = (tenant, request) =>
    this.#write("writeRecords", [tenant, request], request.operations.length);

  putIngestedFiles: Store["putIngestedFiles"] = (tenant, workstation, files, now) =>
    this.#write("putIngestedFiles", [tenant, workstation, files, now], 0);

  putOriginal: Store["putOriginal"] = (tenant, workstation, update, now) =>
    this.#write("putOriginal", [tenant, workstation, update, now], 0);

  setQuota: Store["setQuota"] = (tenant, quota, now, by) =>
    this.#write("setQuota", [tenant, quota, now, by]);

  noteAct: Store["noteAct"] = (tenant, act, now, by) =>
    this.#write("noteAct", [tenant, act, now, by]);

  createToken: Store["createToken"] = (tenant, token, by) =>
    this.#write("createToken", [tenant, token, by]);

  revokeToken: Store["revokeToken"] = (tenant, id, now, by) =>
    this.#write("revokeToken", [tenant, id, now, by]);

  putRoute: Store["putRoute"] = (tenant, request) =>
    withPurge(this.#purge, tenant, () => this.#write("putRoute", [tenant, request]));

  patchRoute: Store["patchRoute"] = (tenant, request) =>
    this.#write("patchRoute", [tenant, request]);

  deleteRoute: Store["deleteRoute"] = (tenant, key, now, by) =>
    this.#write("deleteRoute", [tenant, key, now, by]);

  takeLease: Store["takeLease"] = (name, owner, durationMs) =>
    this.#notified(this.#open().write("takeLease", [name, owner, durationMs]));

  dropLease: Store["dropLease"] = (name, owner) =>
    this.#notified(this.#open().write("dropLease", [name, owner]));

  /** Sweeps one tenant or all. It mostly deletes, so it triggers no index maintenance. */
  sweep: Store["sweep"] = (request) => this.#notified(this.#open().write("sweep", [request]));

  findSession: Store["findSession"] = (tenant, id) => this.#read("findSession", [tenant, id]);

  findSessionByOrigin: Store["findSessionByOrigin"] = (tenant, key) =>
    this.#read("findSessionByOrigin", [tenant, key]);

  findSessionRefs: Store["findSessionRefs"] = (tenant, ref) =>
    this.#read("findSessionRefs", [tenant, ref]);

  listSessions: Store["listSessions"] = (tenant, filter, page) =>
    this.#read("listSessions", [tenant, filter, page]);

  readUsage: Store["readUsage"] = (tenant, ids) => this.#read("readUsage", [tenant, ids]);

  countModels: Store["countModels"] = (tenant, ids) => this.#read("countModels", [tenant, ids]);

  readSessionSizes: Store["readSessionSizes"] = (tenant, ids) =>
    this.#read("readSessionSizes", [tenant, ids]);

  findTombstone: Store["findTombstone"] = (tenant, sessionId) =>
    this.#read("findTombstone", [tenant, sessionId]);

  findTombstoneByOrigin: Store["findTombstoneByOrigin"] = (tenant, key) =>
    this.#read("findTombstoneByOrigin", [tenant, key]);

  findIngestedFiles: Store["findIngestedFiles"] = (tenant, workstation, paths, withState) =>
    this.#read("findIngestedFiles", [tenant, workstation, paths, withState]);

  listOriginals: Store["listOriginals"] = (tenant, query) =>
    this.#read("listOriginals", [tenant, query]);

  readOriginalPart: Store["readOriginalPart"] = (tenant, workstation, path, start) =>
    this.#read("readOriginalPart", [tenant, workstation, path, start]);

  readEntries: Store["readEntries"] = (tenant, query) => this.#read("readEntries", [tenant, query]);

  findEntries: Store["findEntries"] = (tenant, ids, payloads, isRaw) =>
    this.#read("findEntries", [tenant, ids, payloads, isRaw]);

  findUsage: Store["findUsage"] = (tenant, ids) => this.#read("findUsage", [tenant, ids]);

  findPending: Store["findPending"] = (tenant, id) => this.#read("findPending", [tenant, id]);

  listLeaves: Store["listLeaves"] = (tenant, sessionId, limit) =>
    this.#read("listLeaves", [tenant, sessionId, limit]);

  listRetentionDue: Store["listRetentionDue"] = (tenant, which) =>
    this.#read("listRetentionDue", [tenant, which]);

  findMemory: Store["findMemory"] = (tenant, agent, name) =>
    this.#read("findMemory", [tenant, agent, name]);

  listMemories: Store["listMemories"] = (tenant, agent, after, limit) =>
    this.#read("listMemories", [tenant, agent, after, limit]);

  findFact: Store["findFact"] = (tenant, id) => this.#read("findFact", [tenant, id]);

  listFacts: Store["listFacts"] = (tenant, sessionId, after, limit, superseded) =>
    this.#read("listFacts", [tenant, sessionId, after, limit, superseded]);

  readRecords: Store["readRecords"] = (tenant, request) =>
    this.#read("readRecords", [tenant, request]);

  findToken: Store["findToken"] = (id) => this.#read("findToken", [id]);

  listTokens: Store["listTokens"] = (tenant, after, limit) =>
    this.#read("listTokens", [tenant, after, limit]);

  findRoute: Store["findRoute"] = (tenant, key) => this.#read("findRoute", [tenant, key]);

  listRoutes: Store["listRoutes"] = (tenant, after, limit) =>
    this.#read("listRoutes", [tenant, after, limit]);

  listRouteSessions: Store["listRouteSessions"] = (tenant, key, before, limit) =>
    this.#read("listRouteSessions", [tenant, key, before, limit]);

  listSessionRoutes: Store["listSessionRoutes"] = (tenant, sessionId, limit) =>
    this.#read("listSessionRoutes", [tenant, sessionId, limit]);

  feedHead: Store["feedHead"] = (tenant, position) => this.#read("feedHead", [tenant, position]);

  listChanges: Store["listChanges"] = (tenant, after, limit, sessionId) =>
    this.#read("listChanges", [tenant, after, limit, sessionId]);

  listTenants: Store["listTenants"] = () => this.#read("listTenants", []);

  checkIntegrity: Store["checkIntegrity"] = () => this.#read("checkIntegrity", []);

  status: Store["status"] = async () => this.#withLosses(await this.#read("status", []));

  indexStatus: Store["indexStatus"] = async (tenant) => {
    const failure = this.#indexer.failure(tenant);
    const status = await this.#read("indexStatus", [tenant]);
    return { ...status, ...(failure === undefined ? {} : { failure }) };
  };

  search: Store["search"] = (tenant, request, signal) => this.#search(tenant, request, signal);

  searchNotes: Store["searchNotes"] = (tenant, request) => this.#search(tenant, request);

  findSessionsWithText: Store["findSessionsWithText"] = (tenant, request) =>
    this.#search(tenant, request);

  readPieces: Store["readPieces"] = (tenant, request) => this.#search(tenant, request);

  async #search<Answer extends IndexAnswer>(
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const answer = await this.#open().search(tenant, request, signal);
    this.#indexer.found(tenant, answer.unreadable, "lag" in answer ? answer.lag : 0);
    return answer as Answer;
  }

  async maintain(...[tenant, task]: Parameters<Store["maintain"]>): Promise<MaintenanceReport> {
    return this.#open().maintain(tenant, task, this.#indexer.unreadable(tenant));
  }

  async indexSetting(): Promise<IndexSetting> {
    this.#open();
    return this.#onConnection((db) => readSetting(db, {}));
  }

  async setIndexing(change: Partial<IndexSetting>): Promise<IndexSetting> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    return withoutBusy(this.#busyTimeoutMs, () =>
      this.#onConnection((db) => {
        writeSetting(db, { ...readSetting(db, {}), ...change });
        return readSetting(db, {});
      }),
    );
  }

  /** Uses a separate connection, except for an in-memory store, which has only one. */
  #onConnection<Result>(use: (db: SqliteConnection) => Result): Result {
    const { only } = this.#executor;
    if (only !== undefined) return use(only);
    const db = new SqliteConnection(this.#opened?.options.path ?? this.#path, {
      readOnly: this.#readOnly,
    });
    try {
      return use(db);
    } finally {
      db.close();
    }
  }

  async acceptLosses(): Promise<readonly StoreLoss[]> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    return this.#path === MEMORY ? [] : acceptLosses(this.#path, this.#busyTimeoutMs);
  }

  onChange: Store["onChange"] = (listener) => this.#signal.onChange(listener);

  async *dump(): AsyncGenerator<RowBatch> {
    this.#open();
    yield* dumpRows(this.#dumpSource());
  }

  async load(batches: Parameters<Store["load"]>[0]): Promise<void> {
    this.#open();
    if (this.#readOnly) throw openForReading();
    const target = this.#dumpSource();
    await loadRows(target, batches, (begin) => withoutBusy(this.#busyTimeoutMs, begin));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal.close();
    await closeAll(
      () => this.#indexer.close(),
      () => this.#executor.close(),
      () => this.#opened?.release(),
    );
  }

  /** Adds losses that the database does not record: kept logs, and those found when it was opened. */
  #withLosses(status: StoreStatus): StoreStatus {
    if (this.#opened === undefined) return status;
    const { path, unrecorded } = this.#opened;
    const losses = [...listKeptLosses(path), ...unrecorded, ...status.losses];
    return { ...status, address: path, losses };
  }

  /** An in-memory store has one connection; a file is read in pieces on a separate one. */
  #dumpSource(): string | SqliteConnection {
    return this.#executor.only ?? this.#path;
  }

  #open(): Executor {
    if (!this.#closed) return this.#executor;
    throw new BackscrollError("store_closed", "the store is closed; open it again");
  }

  /** Writes, notifies listeners, and applies the indexer's back-pressure. */
  async #write<Name extends TenantWrite>(
    name: Name,
    args: WriteArguments<Name>,
    changes: number | "many" = 1,
    bytes = 0,
  ): Promise<ReturnType<(typeof WRITES)[Name]>> {
    const result = await this.#notified(this.#open().write(name, args));
    await this.#indexer.wrote(args[0], changes, bytes);
    return result;
  }

  /** Purges soft-deleted sessions; false if there were none. */
  async #purgeDeleted(tenant: string): Promise<boolean> {
    if (!(await this.#read("hasDeleted", [tenant]))) return false;
    while (await this.#open().write("purgeBatch", [tenant]));
    return true;
  }

  async #read<Name extends ReadName>(
    name: Name,
    args: ReadArguments<Name>,
  ): Promise<ReturnType<(typeof READS)[Name]>> {
    return this.#open().read(name, args);
  }

  async #notified<Result>(write: Promise<Result>): Promise<Result> {
    const result = await write;
    this.#signal.committed();
    return result;
  }
}
