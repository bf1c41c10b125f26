/** The store on PostgreSQL: one database, many nodes. */

import { MAX_DELETED_ENTRIES } from "../../model/limits.ts";
import type { IndexAnswer, IndexRequest } from "../../search/request.ts";
import { loadIndexCode } from "../index/index-code.ts";
import { bytesOfAppend, changesOfAppend, flushAtOf, Indexer } from "../indexer.ts";
import type { Store, StoreOptions } from "../store.ts";
import { type Purging, withPurge } from "../with-purge.ts";
import type { ChangeSignal } from "./change-signal.ts";
import { dumpRows, loadRows } from "./dump.ts";
import { Maintainer } from "./index/maintainer.ts";
import { indexLag, indexStatus } from "./index/manifest.ts";
import { Searcher } from "./index/searcher.ts";
import { adviseOn, readFacts } from "./operations/advise.ts";
import { append } from "./operations/append.ts";
import {
  deleteSession,
  findTombstone,
  findTombstoneByOrigin,
} from "./operations/delete-session.ts";
import { eraseContent, listRetentionDue } from "./operations/erase-content.ts";
import {
  feedHead,
  feedHeadAt,
  listChanges,
  listTenants,
  noteAct,
  setQuota,
} from "./operations/feed.ts";
import { forkSession } from "./operations/fork.ts";
import { findIngestedFiles, putIngestedFiles } from "./operations/ingested-files.ts";
import { moveLeaf, setPinned } from "./operations/leaf.ts";
import { dropLease, takeLease } from "./operations/leases.ts";
import { listSessions } from "./operations/list-sessions.ts";
import {
  addFacts,
  deleteMemory,
  findFact,
  findMemory,
  listFacts,
  listMemories,
  putMemory,
  retireFact,
} from "./operations/notes.ts";
import { listOriginals, putOriginal, readOriginalPart } from "./operations/originals.ts";
import { purgeDeleted } from "./operations/purge-deleted.ts";
import { findEntries, findUsage, listLeaves, readEntries } from "./operations/read-entries.ts";
import {
  deleteRoute,
  findRoute,
  listRouteSessions,
  listRoutes,
  listSessionRoutes,
  patchRoute,
  putRoute,
} from "./operations/routes.ts";
import {
  countModels,
  createSession,
  findSession,
  findSessionByOrigin,
  findSessionRefs,
  readSessionSizes,
  readUsage,
  updateSession,
} from "./operations/sessions.ts";
import { checkIntegrity, status } from "./operations/status.ts";
import {
  abortStream,
  commitStream,
  findPending,
  openStream,
  writeStream,
} from "./operations/streams.ts";
import { sweep } from "./operations/sweep.ts";
import { createToken, findToken, listTokens, revokeToken } from "./operations/tokens.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { isEntryTaken } from "./postgres-errors.ts";
import {
  LOAD_START,
  READ_START,
  readSetting,
  WRITE_START,
  writeSetting,
} from "./postgres-schema.ts";
import { readRecords, writeRecords } from "./records/records.ts";
import type { Transaction } from "./transaction.ts";

const AGAIN = { again: true };

export class PostgresStore implements Store {
  readonly #db: PostgresDatabase;
  readonly #signal: ChangeSignal;
  readonly #indexModule: string | undefined;
  readonly #searcher: Searcher;
  readonly #maintainer: Maintainer;
  readonly #indexer: Indexer;
  readonly #purge: Purging;

  constructor(db: PostgresDatabase, signal: ChangeSignal, options: StoreOptions) {
    this.#db = db;
    this.#purge = { isEntryTaken, purgeDeleted: (tenant) => purgeDeleted(db, tenant) };
    this.#signal = signal;
    this.#indexModule = options.indexing?.module;
    this.#searcher = new Searcher(db, options.indexing ?? {});
    db.onSwitch(() => this.#searcher.forget());
    this.#maintainer = new Maintainer(db, options.indexing ?? {});
    const store = {
      maintenance: (tenant: string) => this.maintain(tenant, "maintain"),
      flush: (tenant: string) => this.maintain(tenant, "flush"),
      lag: (tenant: string) => db.read(tenant, indexLag),
      stop: () => this.#maintainer.stop(),
    };
    this.#indexer = new Indexer(store, {
      flushAt: flushAtOf(options),
      shortLived: options.inThread ?? false,
    });
  }

  createSession: Store["createSession"] = (tenant, session) =>
    withPurge(this.#purge, tenant, () => this.#write(tenant, (tx) => createSession(tx, session)));

  updateSession: Store["updateSession"] = (tenant, id, patch, now) =>
    this.#write(tenant, (tx) => updateSession(tx, id, patch, now));

  deleteSession: Store["deleteSession"] = async (tenant, id, reason, now, by) => {
    const tombstone = await this.#write(tenant, (tx) => deleteSession(tx, id, reason, now, by));
    if (tombstone.entryCount > MAX_DELETED_ENTRIES) await purgeDeleted(this.#db, tenant);
    return tombstone;
  };

  append: Store["append"] = (tenant, request) => {
    const [changes, bytes] = [changesOfAppend(request), bytesOfAppend(request)];
    const write = () => this.#write(tenant, (tx) => append(tx, request), changes, bytes);
    return withPurge(this.#purge, tenant, write);
  };

  moveLeaf: Store["moveLeaf"] = (tenant, request) =>
    this.#write(tenant, (tx) => moveLeaf(tx, request));

  setPinned: Store["setPinned"] = (tenant, sessionId, entryId, pinned, now) =>
    this.#write(tenant, (tx) => setPinned(tx, sessionId, entryId, pinned, now));

  forkSession: Store["forkSession"] = (tenant, request) =>
    withPurge(this.#purge, tenant, () =>
      this.#write(tenant, (tx) => forkSession(tx, request), "many"),
    );

  eraseContent: Store["eraseContent"] = (tenant, request) =>
    this.#write(tenant, (tx) => eraseContent(tx, request));

  openStream: Store["openStream"] = (tenant, request) =>
    this.#write(tenant, (tx) => openStream(tx, request));

  writeStream: Store["writeStream"] = (tenant, request) =>
    this.#write(tenant, (tx) => writeStream(tx, request));

  commitStream: Store["commitStream"] = (tenant, request) =>
    this.#write(tenant, (tx) => commitStream(tx, request));

  abortStream: Store["abortStream"] = (tenant, request) =>
    this.#write(tenant, (tx) => abortStream(tx, request));

  putMemory: Store["putMemory"] = (tenant, memory) =>
    this.#write(tenant, (tx) => putMemory(tx, memory));

  deleteMemory: Store["deleteMemory"] = (tenant, agent, name, now) =>
    this.#write(tenant, (tx) => deleteMemory(tx, agent, name, now));

  addFacts: Store["addFacts"] = (tenant, sessionId, facts, now) =>
    this.#write(tenant, (tx) => addFacts(tx, sessionId, facts, now));

  retireFact: Store["retireFact"] = (tenant, id, by, now) =>
    this.#write(tenant, (tx) => retireFact(tx, id, by, now));

  writeRecords: Store["writeRecords"] = (tenant, request) =>
    this.#write(tenant, (tx) => writeRecords(tx, request), request.operations.length);

  putIngestedFiles: Store["putIngestedFiles"] = (tenant, workstation, files, now) =>
    this.#db.write(tenant, (tx) => putIngestedFiles(tx, workstation, files, now));

  putOriginal: Store["putOriginal"] = (tenant, workstation, update, now) =>
    this.#db.write(tenant, (tx) => putOriginal(tx, workstation, update, now));

  setQuota: Store["setQuota"] = (tenant, quota, now, by) =>
    this.#write(tenant, (tx) => setQuota(tx, quota, now, by));

  noteAct: Store["noteAct"] = (tenant, act, now, by) =>
    this.#write(tenant, (tx) => noteAct(tx, act, now, by));

  createToken: Store["createToken"] = (tenant, token, by) =>
    this.#write(tenant, (tx) => createToken(tx, token, by));

  revokeToken: Store["revokeToken"] = (tenant, id, now, by) =>
    this.#write(tenant, (tx) => revokeToken(tx, id, now, by));

  putRoute: Store["putRoute"] = (tenant, request) =>
    withPurge(this.#purge, tenant, () => this.#write(tenant, (tx) => putRoute(tx, request)));

  patchRoute: Store["patchRoute"] = (tenant, request) =>
    this.#write(tenant, (tx) => patchRoute(tx, request));

  deleteRoute: Store["deleteRoute"] = (tenant, key, now, by) =>
    this.#write(tenant, (tx) => deleteRoute(tx, key, now, by));

  takeLease: Store["takeLease"] = (name, owner, durationMs) =>
    this.#db.across(WRITE_START, AGAIN, (tx) => takeLease(tx, name, owner, durationMs));

  dropLease: Store["dropLease"] = (name, owner) =>
    this.#db.across(WRITE_START, AGAIN, (tx) => dropLease(tx, name, owner));

  sweep: Store["sweep"] = (request) => this.#notified(sweep(this.#db, request));

  findSession: Store["findSession"] = (tenant, id) =>
    this.#db.read(tenant, (tx) => findSession(tx, id));

  findSessionByOrigin: Store["findSessionByOrigin"] = (tenant, key) =>
    this.#db.read(tenant, (tx) => findSessionByOrigin(tx, key));

  findSessionRefs: Store["findSessionRefs"] = (tenant, ref) =>
    this.#db.read(tenant, (tx) => findSessionRefs(tx, ref));

  listSessions: Store["listSessions"] = (tenant, filter, page) =>
    this.#db.read(tenant, (tx) => listSessions(tx, filter, page));

  readUsage: Store["readUsage"] = (tenant, ids) =>
    this.#db.read(tenant, (tx) => readUsage(tx, ids));

  countModels: Store["countModels"] = (tenant, ids) =>
    this.#db.read(tenant, (tx) => countModels(tx, ids));

  readSessionSizes: Store["readSessionSizes"] = (tenant, ids) =>
    this.#db.read(tenant, (tx) => readSessionSizes(tx, ids));

  findTombstone: Store["findTombstone"] = (tenant, sessionId) =>
    this.#db.read(tenant, (tx) => findTombstone(tx, sessionId));

  findTombstoneByOrigin: Store["findTombstoneByOrigin"] = (tenant, key) =>
    this.#db.read(tenant, (tx) => findTombstoneByOrigin(tx, key));

  findIngestedFiles: Store["findIngestedFiles"] = (tenant, workstation, paths, withState) =>
    this.#db.read(tenant, (tx) => findIngestedFiles(tx, workstation, paths, withState));

  listOriginals: Store["listOriginals"] = (tenant, query) =>
    this.#db.read(tenant, (tx) => listOriginals(tx, query));

  readOriginalPart: Store["readOriginalPart"] = (tenant, workstation, path, start) =>
    this.#db.read(tenant, (tx) => readOriginalPart(tx, workstation, path, start));

  readEntries: Store["readEntries"] = (tenant, query) =>
    this.#db.read(tenant, (tx) => readEntries(tx, query));

  findEntries: Store["findEntries"] = (tenant, ids, payloads, isRaw) =>
    this.#db.read(tenant, (tx) => findEntries(tx, ids, payloads, isRaw));
  findUsage: Store["findUsage"] = (tenant, ids) =>
    this.#db.read(tenant, (tx) => findUsage(tx, ids));

  findPending: Store["findPending"] = (tenant, id) =>
    this.#db.read(tenant, (tx) => findPending(tx, id));

  listLeaves: Store["listLeaves"] = (tenant, sessionId, limit) =>
    this.#db.read(tenant, (tx) => listLeaves(tx, sessionId, limit));

  listRetentionDue: Store["listRetentionDue"] = (tenant, which) =>
    this.#db.read(tenant, (tx) => listRetentionDue(tx, which));

  findMemory: Store["findMemory"] = (tenant, agent, name) =>
    this.#db.read(tenant, (tx) => findMemory(tx, agent, name));

  listMemories: Store["listMemories"] = (tenant, agent, after, limit) =>
    this.#db.read(tenant, (tx) => listMemories(tx, agent, after, limit));

  findFact: Store["findFact"] = (tenant, id) => this.#db.read(tenant, (tx) => findFact(tx, id));

  listFacts: Store["listFacts"] = (tenant, sessionId, after, limit, superseded) =>
    this.#db.read(tenant, (tx) => listFacts(tx, sessionId, after, limit, superseded));

  readRecords: Store["readRecords"] = (tenant, request) =>
    this.#db.read(tenant, (tx) => readRecords(tx, request));

  findToken: Store["findToken"] = (id) =>
    this.#db.across(READ_START, AGAIN, (tx) => findToken(tx, id));

  listTokens: Store["listTokens"] = (tenant, after, limit) =>
    this.#db.read(tenant, (tx) => listTokens(tx, after, limit));

  findRoute: Store["findRoute"] = (tenant, key) =>
    this.#db.read(tenant, (tx) => findRoute(tx, key));

  listRoutes: Store["listRoutes"] = (tenant, after, limit) =>
    this.#db.read(tenant, (tx) => listRoutes(tx, after, limit));

  listRouteSessions: Store["listRouteSessions"] = (tenant, key, before, limit) =>
    this.#db.read(tenant, (tx) => listRouteSessions(tx, key, before, limit));

  listSessionRoutes: Store["listSessionRoutes"] = (tenant, sessionId, limit) =>
    this.#db.read(tenant, (tx) => listSessionRoutes(tx, sessionId, limit));

  feedHead: Store["feedHead"] = (tenant, position) =>
    position === undefined
      ? this.#db.plain((connection) => feedHead(connection, tenant))
      : this.#db.read(tenant, (tx) => feedHeadAt(tx, position));

  listChanges: Store["listChanges"] = (tenant, after, limit, sessionId) =>
    this.#db.read(tenant, (tx) => listChanges(tx, after, limit, sessionId));

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
    const code = await loadIndexCode(this.#indexModule);
    const answer = await this.#searcher.search(code, tenant, request, signal);
    this.#indexer.found(tenant, answer.unreadable, "lag" in answer ? answer.lag : 0);
    return answer as Answer;
  }

  maintain: Store["maintain"] = async (tenant, task) => {
    const code = await loadIndexCode(this.#indexModule);
    return this.#maintainer.maintain(code, tenant, task, this.#indexer.unreadable(tenant));
  };

  indexStatus: Store["indexStatus"] = async (tenant) => {
    const failure = this.#indexer.failure(tenant);
    const status = await this.#db.read(tenant, indexStatus);
    return { ...status, ...(failure === undefined ? {} : { failure }) };
  };

  listTenants: Store["listTenants"] = () => this.#db.plain(listTenants);

  status: Store["status"] = async () => {
    const found = await this.#db.across(READ_START, AGAIN, (tx) => status(tx, this.#db.address));
    return { ...found, losses: this.#db.losses };
  };

  switches = (): number => this.#db.switches;

  checkIntegrity: Store["checkIntegrity"] = () => this.#db.plain(checkIntegrity);

  advise = async (): Promise<string[]> => adviseOn(await this.#db.plain(readFacts));

  onChange: Store["onChange"] = (listener) => this.#signal.onChange(listener);

  dump: Store["dump"] = () => this.#db.pieces(READ_START, dumpRows);

  acceptLosses: Store["acceptLosses"] = async () => this.#db.acceptLosses();

  indexSetting: Store["indexSetting"] = () =>
    this.#db.plain((connection) => readSetting(connection, {}));

  setIndexing: Store["setIndexing"] = async (change) => {
    const setting = await this.#db.plain((connection) => writeSetting(connection, change));
    this.#searcher.settle(setting);
    return setting;
  };

  load: Store["load"] = (batches) =>
    this.#notified(
      this.#db.across(LOAD_START, { again: false }, async (tx) => {
        await loadRows(tx, this.#db.address, batches);
        await tx.commit();
      }),
    );

  async close(): Promise<void> {
    await this.#indexer.close();
    await this.#signal.close();
    await this.#db.close();
  }

  /** Writes, and waits while the tail is far too long (back-pressure). */
  async #write<Result>(
    tenant: string,
    body: (tx: Transaction) => Promise<Result>,
    changes: number | "many" = 1,
    bytes = 0,
  ): Promise<Result> {
    const result = await this.#notified(this.#db.write(tenant, body));
    await this.#indexer.wrote(tenant, changes, bytes);
    return result;
  }

  /** Notifies listeners after a commit. */
  async #notified<Result>(write: Promise<Result>): Promise<Result> {
    const result = await write;
    this.#signal.committed();
    return result;
  }
}
