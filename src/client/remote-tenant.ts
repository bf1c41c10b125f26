/** A remote tenant: the names, arguments and results of `TenantEngine`. */

import { fromWireEntry, type WireEntry } from "../api/entry.ts";
import {
  fromWireSweep,
  fromWireTombstone,
  type WireSweep,
  type WireTombstone,
} from "../api/maintenance.ts";
import { fromWireFact, fromWireMemory, type WireFact, type WireMemory } from "../api/note.ts";
import { fromWireSearchResult, type WireSearchResult } from "../api/search.ts";
import { fromWireSession, type WireSession } from "../api/session.ts";
import { fromWireStats, type WireStats } from "../api/stats.ts";
import {
  fromWireIndexReport,
  fromWireTenantStatus,
  type WireIndexReport,
  type WireTenantStatus,
} from "../api/status.ts";
import type { CreatedToken, CreateTokenInput, ListTokensInput } from "../engine/access/tokens.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { CompactInput } from "../engine/compaction/compact-options.ts";
import type { ListFactsInput } from "../engine/facts/facts.ts";
import type { DeleteOptions, Derived, Tombstone } from "../engine/forget.ts";
import type { ImportOptions, ImportResult } from "../engine/import/import-session.ts";
import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import type { IndexTask } from "../engine/maintain-index.ts";
import type { ListMemoriesInput, MemoryInput } from "../engine/memories.ts";
import type { ListMessagesInput, MessagePage } from "../engine/read.ts";
import type {
  SearchFactsInput,
  SearchInput,
  SearchMemoryInput,
  SearchResult,
} from "../engine/search.ts";
import type { CreateSessionInput } from "../engine/session-input.ts";
import type { EnsureSessionInput } from "../engine/sessions/ensure-session.ts";
import type { Facets, FacetsInput } from "../engine/sessions/facets.ts";
import type { ListSessionsInput, SessionListPage } from "../engine/sessions/list-sessions.ts";
import type { Stats, StatsInput } from "../engine/sessions/stats.ts";
import type { ChangeListPage, ListChangesInput, SubscribeInput } from "../engine/subscribe.ts";
import type { SweepReport } from "../engine/sweep.ts";
import type { MaintainOptions, MaintenanceReport } from "../gateway/maintenance/maintain.ts";
import type { SessionStatus } from "../gateway/status/session-status.ts";
import type { ImportedSession } from "../ingest/source.ts";
import type { AccessToken } from "../model/access-token.ts";
import type { Change } from "../model/change.ts";
import type { Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Fact, Memory } from "../model/note.ts";
import type { Review } from "../model/review.ts";
import type { Session } from "../model/session.ts";
import type { Recap, RecapInput } from "../recap/recap.ts";
import type { Related, RelatedInput } from "../recap/related.ts";
import type { ReviewInput } from "../recap/review.ts";
import type { Trace, TraceInput } from "../recap/trace.ts";
import type { IndexStatus } from "../store/index/index-status.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { Quota, TenantStatus } from "../store/records.ts";
import type { ResumeCommand } from "../transfer/resume-command.ts";
import { maintainSessions, sessionStatus } from "./calls/gateway.ts";
import { recapSessions, relatedSessions, traceWork } from "./calls/recap.ts";
import { compact } from "./compact.ts";
import type { Call, Connection } from "./connection.ts";
import { follow, listChanges } from "./follow.ts";
import { importSession } from "./import-session.ts";
import { findIngestedFiles, putIngestedFiles, RemoteOriginals } from "./remote-files.ts";
import { RemoteRoutes } from "./remote-routes.ts";
import { RemoteSession } from "./remote-session.ts";
import { at, known, toBody, toQuery, toTimes } from "./request.ts";
import { countFacets, readResumeCommand, reviewSessions } from "./tenant/insights.ts";
import { listMemories, putMemory, searchFacts, searchMemory } from "./tenant/notes.ts";
import { RemoteRecords } from "./tenant/records.ts";
import { createSession, ensureSession, listSessions } from "./tenant/sessions.ts";
import { RemoteShares } from "./tenant/shares.ts";
import { createToken, listTokens, revokeToken } from "./tenant/tokens.ts";
import { unlessMissing } from "./unless-missing.ts";

export class RemoteTenant implements TenantApi {
  readonly tenant: string;
  /** For the parts of the client, not for hosts. */
  protected readonly connection: Connection;

  constructor(connection: Connection, tenant: string) {
    this.connection = connection;
    this.tenant = tenant;
  }

  get originals(): RemoteOriginals {
    return new RemoteOriginals(this.connection);
  }

  get records(): RemoteRecords {
    return new RemoteRecords(this.connection);
  }

  get shares(): RemoteShares {
    return new RemoteShares(this.connection);
  }

  get routes(): RemoteRoutes {
    return new RemoteRoutes(this.connection);
  }

  /** As `sessionStatus` of `backscroll/gateway`, by the server's settings. */
  sessionStatus(sessionId: string): Promise<SessionStatus> {
    return sessionStatus(this.connection, sessionId);
  }

  /** The command that continues the session in its own agent. */
  resumeCommand(sessionId: string): Promise<ResumeCommand> {
    return readResumeCommand(this.connection, sessionId);
  }

  /** Failures in the newest sessions, with their tools and files. */
  review(input: ReviewInput = {}): Promise<Review> {
    return reviewSessions(this.connection, input);
  }

  facets(input: FacetsInput = {}): Promise<Facets> {
    return countFacets(this.connection, input);
  }

  /** As `maintainSessions` of `backscroll/gateway`, by the server's settings. */
  maintainSessions(options: Pick<MaintainOptions, "dryRun"> = {}): Promise<MaintenanceReport> {
    return maintainSessions(this.connection, options);
  }

  /** As `recapSessions` of the library, in one request. */
  recapSessions(input: RecapInput = {}): Promise<Recap> {
    return recapSessions(this.connection, input);
  }

  /** As `relatedSessions` of the library, in one request. */
  relatedSessions(input: RelatedInput): Promise<Related> {
    return relatedSessions(this.connection, input);
  }

  /** As `traceWork` of the library, in one request. */
  traceWork(input: TraceInput): Promise<Trace> {
    return traceWork(this.connection, input);
  }

  async createSession(input: CreateSessionInput): Promise<RemoteSession> {
    return this.session(await createSession(this.connection, input));
  }

  async ensureSession(input: EnsureSessionInput): Promise<RemoteSession> {
    return this.session(await ensureSession(this.connection, input));
  }

  async getSession(id: string): Promise<RemoteSession> {
    const session = await this.getSessionMeta(id);
    return new RemoteSession(this.connection, this, session.id);
  }

  session(id: string): RemoteSession {
    return new RemoteSession(this.connection, this, id);
  }

  createToken(input: CreateTokenInput): Promise<CreatedToken> {
    return createToken(this.connection, input);
  }

  listTokens(input: ListTokensInput = {}): Promise<readonly AccessToken[]> {
    return listTokens(this.connection, input);
  }

  revokeToken(id: string): Promise<AccessToken> {
    return revokeToken(this.connection, id);
  }

  async getSessionMeta(id: string): Promise<Session> {
    const path = at`/v1/sessions/${id}`;
    return fromWireSession(await this.connection.call<WireSession>({ method: "GET", path }));
  }

  findSessionByOrigin(key: string): Promise<Session | undefined> {
    return unlessMissing(async () => {
      const call = { method: "GET", path: "/v1/origins", query: { key } } as const;
      return fromWireSession(await this.connection.call<WireSession>(call));
    });
  }

  importSession(imported: ImportedSession, options: ImportOptions = {}): Promise<ImportResult> {
    return importSession(this.connection, imported, options, async (id, patch) => {
      await new RemoteSession(this.connection, this, id).update(patch);
    });
  }

  listSessions(input: ListSessionsInput = {}): Promise<SessionListPage> {
    return listSessions(this.connection, input);
  }

  async stats(input: StatsInput = {}): Promise<Stats> {
    const { prices, since, until, ...rest } = known("stats", input);
    if (prices !== undefined) {
      throw new BackscrollError("invalid_input", "a server adds up by its own prices", {
        details: { field: "prices" },
      });
    }
    const query = toQuery({ ...rest, ...toTimes({ since, until }) });
    const call = { method: "GET", path: "/v1/stats", query } as const;
    return fromWireStats(await this.connection.call<WireStats>(call));
  }

  async deleteSession(id: string, options: DeleteOptions = {}): Promise<Tombstone> {
    const tombstone = await this.connection.call<WireTombstone>({
      method: "DELETE",
      path: at`/v1/sessions/${id}`,
      query: toQuery(known("deleteSession", options)),
    });
    return fromWireTombstone(tombstone);
  }

  async listDerived(id: string): Promise<Derived> {
    const path = at`/v1/sessions/${id}/derived`;
    const { has_summary: hasSummary, ...same } = await this.connection.call<
      Omit<Derived, "hasSummary"> & { readonly has_summary: boolean }
    >({ method: "GET", path });
    return { ...same, hasSummary };
  }

  findTombstone(id: string): Promise<Tombstone | undefined> {
    return this.#findTombstone({ session_id: id });
  }

  findTombstoneByOrigin(key: string): Promise<Tombstone | undefined> {
    return this.#findTombstone({ origin_key: key });
  }

  findIngestedFiles(
    workstation: string,
    paths: readonly string[],
  ): Promise<readonly IngestedFile[]> {
    return findIngestedFiles(this.connection, workstation, paths);
  }

  putIngestedFiles(workstation: string, files: readonly IngestedFile[]): Promise<void> {
    return putIngestedFiles(this.connection, workstation, files);
  }

  compactConversation(sessionId: string, input: CompactInput = {}): Promise<CompactionResult> {
    return compact(this.connection, sessionId, input);
  }

  async listMessages(sessionId: string, input: ListMessagesInput = {}): Promise<MessagePage> {
    const page = await this.connection.call<{
      readonly messages: readonly WireEntry[];
      readonly offset: number;
      readonly total: number;
    }>({
      method: "GET",
      path: at`/v1/sessions/${sessionId}/messages`,
      query: toQuery(known("listMessages", input)),
    });
    return { ...page, messages: page.messages.map(fromWireEntry) };
  }

  async getEntry(id: string): Promise<Entry> {
    const path = at`/v1/entries/${id}`;
    return fromWireEntry(await this.connection.call<WireEntry>({ method: "GET", path }));
  }

  async abortMessage(id: string, reason?: string): Promise<Entry> {
    const { sessionId } = await this.getEntry(id);
    const aborted = await this.connection.call<WireEntry>({
      method: "POST",
      path: at`/v1/sessions/${sessionId}/streams/${id}/abort`,
      body: toBody({ reason }),
    });
    return fromWireEntry(aborted);
  }

  async searchSessions(query: string, input: SearchInput = {}): Promise<SearchResult> {
    const { since, until, signal, ...rest } = known("searchSessions", input);
    const call: Call = {
      method: "POST",
      path: "/v1/search",
      repeatable: true,
      body: toBody({ query, ...rest, ...toTimes({ since, until }) }),
      ...(signal === undefined ? {} : { signal }),
    };
    try {
      return fromWireSearchResult(await this.connection.call<WireSearchResult>(call));
    } catch (error) {
      // As in the library: throws the signal's own reason.
      signal?.throwIfAborted();
      throw error;
    }
  }

  searchMemory(query: string, input: SearchMemoryInput = {}): Promise<readonly Memory[]> {
    return searchMemory(this.connection, query, input);
  }

  searchFacts(query: string, input: SearchFactsInput = {}): Promise<readonly Fact[]> {
    return searchFacts(this.connection, query, input);
  }

  async indexStatus(): Promise<IndexStatus> {
    const path = "/v1/index";
    return fromWireIndexReport(
      await this.connection.call<WireIndexReport>({ method: "GET", path }),
    );
  }

  /** `onProgress` is not called: the server answers when it is done. */
  async maintainIndex(task: IndexTask): Promise<IndexStatus> {
    const body = toBody({ task });
    const call = { method: "POST", path: "/v1/admin/index", body, slow: true } as const;
    return fromWireIndexReport(await this.connection.call<WireIndexReport>(call));
  }

  async putMemory(input: MemoryInput): Promise<Memory> {
    return putMemory(this.connection, input);
  }

  async getMemory(agent: string, name: string): Promise<Memory> {
    const path = at`/v1/memories/${agent}/${name}`;
    return fromWireMemory(await this.connection.call<WireMemory>({ method: "GET", path }));
  }

  async listMemories(input: ListMemoriesInput = {}): Promise<readonly Memory[]> {
    return listMemories(this.connection, input);
  }

  async deleteMemory(agent: string, name: string): Promise<void> {
    await this.connection.call({ method: "DELETE", path: at`/v1/memories/${agent}/${name}` });
  }

  async getFact(id: string): Promise<Fact> {
    const path = at`/v1/facts/${id}`;
    return fromWireFact(await this.connection.call<WireFact>({ method: "GET", path }));
  }

  async listFacts(input: ListFactsInput = {}): Promise<readonly Fact[]> {
    const { facts } = await this.connection.call<{ readonly facts: readonly WireFact[] }>({
      method: "GET",
      path: "/v1/facts",
      query: toQuery(known("listFacts", input)),
    });
    return facts.map(fromWireFact);
  }

  async supersedeFact(id: string, by: string): Promise<void> {
    const path = at`/v1/facts/${id}/supersede`;
    await this.connection.call({ method: "POST", path, body: toBody({ by }) });
  }

  async deleteFact(id: string): Promise<void> {
    await this.connection.call({ method: "DELETE", path: at`/v1/facts/${id}` });
  }

  subscribe(input: SubscribeInput = {}): AsyncGenerator<Change, void> {
    return follow(this.connection, known("subscribe", input));
  }

  listChanges(input: ListChangesInput = {}): Promise<ChangeListPage> {
    return listChanges(this.connection, known("listChanges", input));
  }

  async sweep(): Promise<SweepReport> {
    const call = { method: "POST", path: "/v1/admin/sweep", slow: true } as const;
    return fromWireSweep(await this.connection.call<WireSweep>(call));
  }

  async tenantStatus(): Promise<TenantStatus | undefined> {
    type Answer = { readonly status: WireTenantStatus | null };
    const call = { method: "GET", path: "/v1/status" } as const;
    const { status } = await this.connection.call<Answer>(call);
    return status === null ? undefined : fromWireTenantStatus(status);
  }

  async setQuota(quota: Partial<Quota>): Promise<void> {
    await this.connection.call({ method: "PUT", path: "/v1/admin/quota", body: toBody(quota) });
  }

  #findTombstone(query: Record<string, string>): Promise<Tombstone | undefined> {
    return unlessMissing(async () => {
      const call = { method: "GET", path: "/v1/tombstones", query } as const;
      return fromWireTombstone(await this.connection.call<WireTombstone>(call));
    });
  }
}
