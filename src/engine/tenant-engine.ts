/**
 * The engine within one tenant: the primitives, and no policy.
 *
 * It never compacts, titles, deletes or routes by itself. The tenant is set once, by the host, and
 * no argument of any call can change it.
 */

import type { ImportedSession } from "../ingest/source.ts";
import type { AccessToken } from "../model/access.ts";
import type { Change } from "../model/change.ts";
import type { Entry } from "../model/entry.ts";
import { checkName } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { isPlainObject } from "../model/json.ts";
import type { TextModel } from "../model/models.ts";
import type { Fact, Memory, Rule, RuleList } from "../model/note.ts";
import { PAGINGS, type Paged, readPaged } from "../model/paged.ts";
import { NEW_SESSION, type Session } from "../model/session.ts";
import type { FoundLines, LinesRequest, SearchHit } from "../search/request.ts";
import type { TextRun } from "../search/text/text-run.ts";
import type { IndexStatus } from "../store/index/index-status.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { Quota, SessionSize, TenantStatus } from "../store/records.ts";
import { Shares } from "./access/shares.ts";
import {
  type CreatedToken,
  type CreateTokenInput,
  createToken,
  type ListTokensInput,
  listTokens,
  revokeToken,
} from "./access/tokens.ts";
import { checkInput, checkKey } from "./check.ts";
import { type CompactionResult, compactSession } from "./compaction/compact.ts";
import { type CompactInput, findModel } from "./compaction/compact-options.ts";
import { type EngineContext, forReading } from "./engine-context.ts";
import { getFact, type ListFactsInput, listFacts } from "./facts/facts.ts";
import {
  type DeleteOptions,
  type Derived,
  deleteSession,
  listDerived,
  type Tombstone,
  toTombstone,
} from "./forget.ts";
import { type ImportResult, importSession } from "./import/import-session.ts";
import type { ImportOptions } from "./import/import-subject.ts";
import { findIngestedFiles, Originals, putIngestedFiles } from "./import/ingested-files.ts";
import { type IndexTask, type MaintainOptions, maintainIndex } from "./maintain-index.ts";
import {
  deleteMemory,
  getMemory,
  type ListMemoriesInput,
  listMemories,
  type MemoryInput,
  putMemory,
} from "./memories.ts";
import { Owned } from "./owned/forget-owner.ts";
import { getEntry, type ListMessagesInput, listMessages, type MessagePage } from "./read.ts";
import { Records } from "./records/records.ts";
import { sessionSizes } from "./retention/coverage.ts";
import { Routes } from "./routes/routes.ts";
import {
  type AcceptRuleInput,
  type AddRuleInput,
  acceptRule,
  addRule,
  type ListRulesInput,
  listRules,
  rejectRule,
  removeRule,
} from "./rules/rules.ts";
import {
  type SearchFactsInput,
  type SearchInput,
  type SearchMemoryInput,
  type SearchResult,
  searchFacts,
  searchMemory,
  searchSessions,
  toScope,
} from "./search.ts";
import { SessionHandle } from "./session-handle.ts";
import { type CreateSessionInput, toNewSession } from "./session-input.ts";
import { countFacets, type Facets, type FacetsInput } from "./sessions/facets.ts";
import {
  findSessionsWithText,
  type ListSessionsInput,
  listSessions,
  type SessionListPage,
  type TextScope,
} from "./sessions/list-sessions.ts";
import { withParents } from "./sessions/nested.ts";
import {
  type EnsureSessionInput,
  ensureSession,
  resolveField,
  resolveIfMissing,
  resolveSearch,
  resolveSession,
  resolveSessionId,
} from "./sessions/resolve-session.ts";
import { addUp, type Stats, type StatsInput } from "./sessions/stats.ts";
import {
  type ChangeListPage,
  type ListChangesInput,
  listChanges,
  type SubscribeInput,
  subscribe,
} from "./subscribe.ts";
import { type SweepReport, sweepTenant } from "./sweep.ts";

export class TenantEngine {
  /** For parts of the engine, not for hosts. */
  protected readonly engine: EngineContext;
  /** For read-only calls. */
  protected readonly reading: EngineContext;

  constructor(engine: EngineContext) {
    this.engine = engine;
    this.reading = forReading(engine);
  }

  get tenant(): string {
    return this.engine.tenant;
  }

  /** The bytes of ingested files. */
  get originals(): Originals {
    return new Originals(this.engine);
  }

  /** Public read-only links to single sessions. */
  get shares(): Shares {
    return new Shares(this.engine);
  }

  /** Values under a namespace and a key. */
  get records(): Records {
    return new Records(this.engine);
  }

  /** Session keys and their current sessions. */
  get routes(): Routes {
    return new Routes(this.engine);
  }

  /** Always creates and always persists. */
  async createSession(input: CreateSessionInput = {}): Promise<SessionHandle> {
    const named = isPlainObject(input) ? { ...NEW_SESSION, ...input } : input;
    const session = toNewSession(named, () => this.engine.newId(), this.engine.now());
    const created = await this.engine.store.createSession(this.tenant, session);
    return new SessionHandle(this.engine, created.id);
  }

  /**
   * The session with this key, created if missing. Concurrent callers, also of several processes,
   * create one; an existing session is unchanged.
   */
  async ensureSession(input: EnsureSessionInput): Promise<SessionHandle> {
    return new SessionHandle(this.engine, await ensureSession(this.engine, input));
  }

  /**
   * The handle of an existing session; throws `session_not_found`. `id` may be its id, its short id
   * or its agent's own id; `session_ambiguous` if several match.
   */
  getSession(id: string): Promise<SessionHandle>;
  /** As above, with a host's subclass of `SessionHandle`. */
  getSession<Handle extends SessionHandle>(
    id: string,
    handle: new (engine: EngineContext, id: string) => Handle,
  ): Promise<Handle>;
  async getSession(
    id: string,
    handle: new (engine: EngineContext, id: string) => SessionHandle = SessionHandle,
  ): Promise<SessionHandle> {
    const session = await this.getSessionMeta(id);
    return new handle(this.engine, session.id);
  }

  /** A handle of the session with this id, without a check that it exists: its calls check. */
  session(id: string): SessionHandle {
    return new SessionHandle(this.engine, checkKey(id, "sessionId"));
  }

  /** `id` as in `getSession`. */
  async getSessionMeta(id: string): Promise<Session> {
    const [session] = await withParents(this.reading, [await resolveSession(this.reading, id)]);
    return session as Session;
  }

  /** The id that `ref` resolves to, as in `getSession`; `ref` itself if nothing matches. */
  resolveSessionId(ref: string): Promise<string> {
    return resolveSessionId(this.engine, ref);
  }

  /** The session with this origin key, if stored. */
  async findSessionByOrigin(key: string): Promise<Session | undefined> {
    return this.engine.store.findSessionByOrigin(this.tenant, checkKey(key, "key"));
  }

  /**
   * Stores a session from a transcript reader (`readTranscript`). Importing it again stores only
   * new entries.
   */
  importSession(imported: ImportedSession, options: ImportOptions = {}): Promise<ImportResult> {
    return importSession(this.engine, imported, options);
  }

  /** Newest interaction first. Answered from columns: no entry is read, but for outcomes. */
  listSessions(input: ListSessionsInput = {}): Promise<Paged<SessionListPage, Session>> {
    return readPaged(PAGINGS.listSessions, input, async (each) => {
      const one = await resolveField(this.reading, each, "session");
      return listSessions(this.reading, await resolveField(this.reading, one, "parentSessionId"));
    });
  }

  /** Totals of sessions, messages, tokens and cost. */
  stats(input: StatsInput = {}): Promise<Stats> {
    return addUp(this.reading, input);
  }

  /** The number of sessions of a list or a search by filter value. */
  facets(input: FacetsInput = {}): Promise<Facets> {
    return countFacets(this.reading, input);
  }

  /**
   * Deletes the session and everything inside it; a tombstone with its hash stays. With `cascade`
   * also its forks and the memories that name it: see `listDerived`.
   */
  deleteSession(id: string, options: DeleteOptions = {}): Promise<Tombstone> {
    return deleteSession(this.engine, id, options);
  }

  /** Forks and memories derived from a session, which would outlive it. */
  async listDerived(id: string): Promise<Derived> {
    return listDerived(this.engine, await this.resolveSessionId(id));
  }

  /** Everything of one owner, to export and to delete. */
  owned(owner: string): Owned {
    return new Owned(this.engine, owner);
  }

  /** Sizes of sessions, and the number of open messages in each: at most 500 at once. */
  sessionSizes(ids: readonly string[]): Promise<readonly SessionSize[]> {
    return sessionSizes(this.reading, ids);
  }

  /** The tombstone of a deleted session. */
  async findTombstone(id: string): Promise<Tombstone | undefined> {
    const found = await this.engine.store.findTombstone(this.tenant, checkKey(id, "sessionId"));
    return found && toTombstone(found);
  }

  /** The tombstone of the newest deleted session with this origin. */
  async findTombstoneByOrigin(key: string): Promise<Tombstone | undefined> {
    const found = await this.engine.store.findTombstoneByOrigin(this.tenant, checkKey(key, "key"));
    return found && toTombstone(found);
  }

  /** Read offsets of a workstation's files, for ingestion. */
  async findIngestedFiles(
    workstation: string,
    paths: readonly string[],
    options: { readonly withState?: boolean } = {},
  ): Promise<readonly IngestedFile[]> {
    return findIngestedFiles(this.engine, workstation, paths, options);
  }

  async putIngestedFiles(workstation: string, files: readonly IngestedFile[]): Promise<void> {
    await putIngestedFiles(this.engine, workstation, files);
  }

  /** As `compact` of the session. */
  async compactConversation(
    sessionId: string,
    input: CompactInput = {},
  ): Promise<CompactionResult> {
    return compactSession(this.engine, checkKey(sessionId, "sessionId"), input);
  }

  listMessages(
    sessionId: string,
    input: ListMessagesInput = {},
  ): Promise<Paged<MessagePage, Entry>> {
    return readPaged(PAGINGS.listMessages, input, (each) =>
      resolveIfMissing(this.reading, sessionId, (id) => listMessages(this.reading, id, each)),
    );
  }

  getEntry(id: string): Promise<Entry> {
    return getEntry(this.reading, id);
  }

  /** Aborts a message that another writer left open, and keeps its text so far. */
  async abortMessage(id: string, reason = "aborted"): Promise<Entry> {
    const aborted = { id: checkKey(id, "entryId"), reason: checkName(reason, "reason") };
    const now = this.engine.now();
    await this.engine.store.abortStream(this.tenant, { ...aborted, chunks: null, now });
    return this.getEntry(id);
  }

  /** The best hits for a query, each with the messages around it. Any text is a valid query. */
  searchSessions(query: string, input: SearchInput = {}): Promise<Paged<SearchResult, SearchHit>> {
    return readPaged(PAGINGS.searchSessions, input, async (each) =>
      searchSessions(this.reading, query, await resolveSearch(this.reading, each)),
    );
  }

  /** The ids of every session that may have a text, in no order; some may not have it. */
  async findSessionsWithText(run: TextRun, scope: TextScope = {}): Promise<readonly string[]> {
    return findSessionsWithText(this.reading, run, await resolveSearch(this.reading, scope));
  }

  /** The messages that changed lines, by the index; `places` of an earlier answer are named. */
  async findLines(
    lines: LinesRequest["lines"],
    places: LinesRequest["places"] = [],
    scope: TextScope = {},
  ): Promise<FoundLines> {
    const { since: _since, until: _until, ...filters } = await resolveSearch(this.reading, scope);
    const request = { lines, places, scope: toScope(filters) };
    return this.reading.store.findLines(this.tenant, request);
  }

  /** Whole memories, best first. */
  searchMemory(query: string, input: SearchMemoryInput = {}): Promise<readonly Memory[]> {
    return searchMemory(this.reading, query, input);
  }

  searchFacts(query: string, input: SearchFactsInput = {}): Promise<readonly Fact[]> {
    return searchFacts(this.reading, query, input);
  }

  /** Progress and size of the index. */
  indexStatus(): Promise<IndexStatus> {
    return this.engine.store.indexStatus(this.tenant);
  }

  /** Runs an index maintenance task to its end. Searches and appends continue. */
  maintainIndex(task: IndexTask, options: MaintainOptions = {}): Promise<IndexStatus> {
    return maintainIndex(this.engine, task, options);
  }

  putMemory(input: MemoryInput): Promise<Memory> {
    return putMemory(this.engine, input);
  }

  getMemory(agent: string, name: string): Promise<Memory> {
    return getMemory(this.reading, agent, name);
  }

  listMemories(input: ListMemoriesInput = {}): Promise<readonly Memory[]> {
    return listMemories(this.reading, input);
  }

  deleteMemory(agent: string, name: string): Promise<void> {
    return deleteMemory(this.engine, agent, name);
  }

  getFact(id: string): Promise<Fact> {
    return getFact(this.reading, id);
  }

  async listFacts(input: ListFactsInput = {}): Promise<readonly Fact[]> {
    return listFacts(this.reading, await resolveField(this.reading, input, "sessionId"));
  }

  /** The fact stays stored, but is no longer listed. */
  async supersedeFact(id: string, by: string): Promise<void> {
    checkKey(id, "id");
    await this.engine.store.retireFact(this.tenant, id, checkKey(by, "by"), this.engine.now());
  }

  async deleteFact(id: string): Promise<void> {
    await this.engine.store.retireFact(this.tenant, checkKey(id, "id"), null, this.engine.now());
  }

  /**
   * What people said that was meant to stand: the rules in force, then the candidates, each the
   * newest first. Candidates are found in the newest 50,000 messages of the newest 200 sessions.
   */
  listRules(input: ListRulesInput = {}): Promise<RuleList> {
    return listRules(this.reading, input);
  }

  /** Puts a candidate into force, on its person's word: its id, or its source, `SESSION#N`. */
  acceptRule(id: string, input: AcceptRuleInput = {}): Promise<Rule> {
    return acceptRule(this.engine, id, input);
  }

  /** A candidate that is no rule does not come back; one that was accepted is out of force. */
  rejectRule(id: string): Promise<Rule> {
    return rejectRule(this.engine, id);
  }

  /** Takes a rule out of force; of a rejected candidate, takes the rejection back. */
  removeRule(id: string): Promise<void> {
    return removeRule(this.engine, id);
  }

  /** Puts a rule into force in a person's own words. */
  addRule(input: AddRuleInput): Promise<Rule> {
    return addRule(this.engine, input);
  }

  /** Follows the change feed, live. Resumes without gap or repeat after `after`. */
  subscribe(input: SubscribeInput = {}): AsyncGenerator<Change, void> {
    return subscribe(this.reading, input);
  }

  /** A page of the change feed: the tenant's audit log. */
  listChanges(input: ListChangesInput = {}): Promise<Paged<ChangeListPage, Change>> {
    return readPaged(PAGINGS.listChanges, input, async (each) =>
      listChanges(this.reading, await resolveField(this.reading, each, "session")),
    );
  }

  /**
   * Deletes sessions whose TTL has passed, aborts messages whose writer died, and completes
   * interrupted erasures of summarised messages.
   */
  sweep(): Promise<SweepReport> {
    return sweepTenant(this.engine);
  }

  /** This tenant's totals; zeros if it does not exist. */
  async tenantStatus(): Promise<TenantStatus | undefined> {
    const status = await this.engine.store.status();
    return status.tenants.find((tenant) => tenant.tenant === this.tenant);
  }

  /** A token for this tenant. Its text is given once and not stored. */
  createToken(input: CreateTokenInput): Promise<CreatedToken> {
    return createToken(this.engine, input);
  }

  /** By id, including expired and revoked ones. */
  listTokens(input: ListTokensInput = {}): Promise<readonly AccessToken[]> {
    return listTokens(this.engine, input);
  }

  /** Revokes a token. Idempotent. */
  revokeToken(id: string): Promise<AccessToken> {
    return revokeToken(this.engine, id);
  }

  /** A language model of the store by name; throws `model_unavailable`. */
  textModel(name = "default"): TextModel {
    return findModel(this.engine, checkKey(name, "name"));
  }

  /** Limits of this tenant; null lifts one. Over a limit, writes fail with `quota_exceeded`. */
  async setQuota(quota: Partial<Quota>): Promise<void> {
    checkInput(quota, "quota", INPUTS.setQuota);
    const { maxSessions = null, maxEntries = null, maxContentBytes = null } = quota;
    const { store, tenant, by } = this.engine;
    const limits = { maxSessions, maxEntries, maxContentBytes };
    await store.setQuota(tenant, limits, this.engine.now(), by);
  }

  /** Adds an audit row for an act without another row, such as a copy of the store. */
  async noteAct(act: string): Promise<void> {
    const { store, by } = this.engine;
    await store.noteAct(this.tenant, checkName(act, "act"), this.engine.now(), by);
  }
}
