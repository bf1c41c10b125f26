/** A remote tenant: the names, arguments and results of `TenantEngine`. */

import { fromWireSessionStatus } from "../api/gateway.ts";
import {
  fromWireSession,
  fromWireSessionPage,
  type WireSession,
  type WireSessionPage,
} from "../api/session.ts";
import { fromWire } from "../api/shape.ts";
import { fromWireStats, type WireStats } from "../api/stats.ts";
import { toWireFields } from "../api/wire.ts";
import type { CreatedToken, CreateTokenInput, ListTokensInput } from "../engine/access/tokens.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { CompactInput } from "../engine/compaction/compact-options.ts";
import type { ListFactsInput } from "../engine/facts/facts.ts";
import type { DeleteOptions, Derived, Tombstone } from "../engine/forget.ts";
import type { ImportResult } from "../engine/import/import-session.ts";
import type { ImportOptions } from "../engine/import/import-subject.ts";
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
import { ACCESS_TOKEN, type AccessToken } from "../model/access-token.ts";
import { RECAP, RELATED, SEARCH_RESULT } from "../model/answers/context.ts";
import { MAINTENANCE_REPORT } from "../model/answers/gateway.ts";
import { DERIVED, INDEX_STATUS, SWEEP, TENANT_STATUS, TOMBSTONE } from "../model/answers/store.ts";
import type { Change } from "../model/change.ts";
import type { Entry } from "../model/entry.ts";
import { ENTRY } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { type JsonObject, stringifyJson } from "../model/json.ts";
import type { Fact, Memory } from "../model/note.ts";
import { FACT, MEMORY } from "../model/note.ts";
import { REVIEW, type Review } from "../model/review.ts";
import { SESSION, type Session } from "../model/session.ts";
import type { ValueOf } from "../model/shape.ts";
import type { Recap, RecapInput } from "../recap/recap.ts";
import type { Related, RelatedInput } from "../recap/related.ts";
import type { ReviewInput } from "../recap/review.ts";
import type { Trace, TraceInput } from "../recap/trace.ts";
import { fromWireTrace } from "../recap/wire/wire-trace.ts";
import type { IndexStatus } from "../store/index/index-status.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { Quota, TenantStatus } from "../store/records.ts";
import type { ResumeCommand } from "../transfer/resume-command.ts";
import { compact } from "./compact.ts";
import type { Call, Connection } from "./connection.ts";
import { follow, listChanges } from "./follow.ts";
import { importSession } from "./import-session.ts";
import { toWireNew } from "./new-session.ts";
import { findIngestedFiles, putIngestedFiles, RemoteOriginals } from "./remote-files.ts";
import { RemoteRecords } from "./remote-records.ts";
import { RemoteRoutes } from "./remote-routes.ts";
import { RemoteSession } from "./remote-session.ts";
import { RemoteShares } from "./remote-shares.ts";
import { at, keyHeader, known, sent, toBody, toQuery } from "./request.ts";
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
  async sessionStatus(sessionId: string): Promise<SessionStatus> {
    const path = at`/v1/sessions/${sessionId}/status`;
    return fromWireSessionStatus(await this.connection.call({ method: "GET", path }));
  }

  /** The command that continues the session in its own agent. */
  async resumeCommand(sessionId: string): Promise<ResumeCommand> {
    return this.connection.call({ method: "GET", path: at`/v1/sessions/${sessionId}/resume` });
  }

  /** Failures in the newest sessions, with their tools and files. */
  async review(input: ReviewInput = {}): Promise<Review> {
    return this.#get(REVIEW, "/v1/review", sent("reviewSessions", input));
  }

  async facets(input: FacetsInput = {}): Promise<Facets> {
    const body = toBody(sent("facets", input));
    const call = { method: "POST", path: "/v1/facets", repeatable: true, body } as const;
    const { signal } = input;
    return this.connection.call(signal === undefined ? call : { ...call, signal });
  }

  /** As `maintainSessions` of `backscroll/gateway`, by the server's settings. */
  async maintainSessions(
    options: Pick<MaintainOptions, "dryRun"> = {},
  ): Promise<MaintenanceReport> {
    const body = toBody(known("maintainSessions", options));
    const call = { method: "POST", path: "/v1/admin/maintain", body, slow: true } as const;
    return fromWire(MAINTENANCE_REPORT, await this.connection.call(call));
  }

  /** As `recapSessions` of the library, in one request. */
  async recapSessions(input: RecapInput = {}): Promise<Recap> {
    return this.#get(RECAP, "/v1/recap", sent("recapSessions", input));
  }

  /** As `relatedSessions` of the library, in one request. */
  async relatedSessions(input: RelatedInput): Promise<Related> {
    return this.#get<typeof RELATED, Related>(
      RELATED,
      "/v1/related",
      sent("relatedSessions", input),
    );
  }

  /** As `traceWork` of the library, in one request. */
  async traceWork(input: TraceInput): Promise<Trace> {
    const body = toBody(sent("traceWork", input));
    const call = { method: "POST", path: "/v1/trace", body, repeatable: true } as const;
    return fromWireTrace(await this.connection.call(call));
  }

  async createSession(input: CreateSessionInput): Promise<RemoteSession> {
    const { idempotency_key: _, ...session } = toWireNew(input, "session");
    const { id } = await this.connection.call<WireSession>({
      method: "POST",
      path: "/v1/sessions",
      headers: keyHeader(input.idempotencyKey),
      body: toBody(session),
    });
    return this.session(id);
  }

  async ensureSession(input: EnsureSessionInput): Promise<RemoteSession> {
    const { key, origin, ...create } = known("ensureSession", input, "session");
    const own =
      origin && toWireFields(known("ensureSession.origin", origin, "origin") as JsonObject);
    const { id } = await this.connection.call<WireSession>({
      method: "PUT",
      path: "/v1/origins",
      repeatable: true,
      body: toBody({ ...toWireNew(create, "session"), key, origin: own }),
    });
    return this.session(id);
  }

  async getSession(id: string): Promise<RemoteSession> {
    const session = await this.getSessionMeta(id);
    return new RemoteSession(this.connection, this, session.id);
  }

  session(id: string): RemoteSession {
    return new RemoteSession(this.connection, this, id);
  }

  async createToken(input: CreateTokenInput): Promise<CreatedToken> {
    const body = toBody(sent("createToken", input, "token"));
    const call = { method: "POST", path: "/v1/admin/tokens", body } as const;
    return fromWire({ token: "text", record: ACCESS_TOKEN }, await this.connection.call(call));
  }

  async listTokens(input: ListTokensInput = {}): Promise<readonly AccessToken[]> {
    const answer = { tokens: [ACCESS_TOKEN] } as const;
    return (await this.#get(answer, "/v1/admin/tokens", sent("listTokens", input))).tokens;
  }

  async revokeToken(id: string): Promise<AccessToken> {
    const path = at`/v1/admin/tokens/${id}`;
    return fromWire(ACCESS_TOKEN, await this.connection.call({ method: "DELETE", path }));
  }

  async getSessionMeta(id: string): Promise<Session> {
    return this.#get(SESSION, at`/v1/sessions/${id}`);
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

  async listSessions(input: ListSessionsInput = {}): Promise<SessionListPage> {
    const { metadata, ...rest } = sent("listSessions", input);
    const wanted = metadata === undefined ? undefined : stringifyJson(metadata, "metadata");
    const query = toQuery({ ...rest, metadata: wanted });
    const call = { method: "GET", path: "/v1/sessions", query } as const;
    return fromWireSessionPage(await this.connection.call<WireSessionPage>(call));
  }

  async stats(input: StatsInput = {}): Promise<Stats> {
    const { prices, ...rest } = sent("stats", input);
    if (prices !== undefined) {
      throw new BackscrollError("invalid_input", "a server adds up by its own prices", {
        details: { field: "prices" },
      });
    }
    const call = { method: "GET", path: "/v1/stats", query: toQuery(rest) } as const;
    return fromWireStats(await this.connection.call<WireStats>(call));
  }

  async deleteSession(id: string, options: DeleteOptions = {}): Promise<Tombstone> {
    const tombstone = await this.connection.call({
      method: "DELETE",
      path: at`/v1/sessions/${id}`,
      query: toQuery(known("deleteSession", options)),
    });
    return fromWire(TOMBSTONE, tombstone);
  }

  async listDerived(id: string): Promise<Derived> {
    return this.#get(DERIVED, at`/v1/sessions/${id}/derived`);
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
    const answer = { messages: [ENTRY], offset: "count", total: "count" } as const;
    const path = at`/v1/sessions/${sessionId}/messages`;
    return this.#get(answer, path, sent("listMessages", input));
  }

  async getEntry(id: string): Promise<Entry> {
    return this.#get(ENTRY, at`/v1/entries/${id}`);
  }

  async abortMessage(id: string, reason?: string): Promise<Entry> {
    const { sessionId } = await this.getEntry(id);
    const aborted = await this.connection.call({
      method: "POST",
      path: at`/v1/sessions/${sessionId}/streams/${id}/abort`,
      body: toBody({ reason }),
    });
    return fromWire(ENTRY, aborted);
  }

  async searchSessions(query: string, input: SearchInput = {}): Promise<SearchResult> {
    const body = toBody({ query, ...sent("searchSessions", input) });
    const call: Call = { method: "POST", path: "/v1/search", repeatable: true, body };
    const { signal } = input;
    try {
      const answer = await this.connection.call(signal === undefined ? call : { ...call, signal });
      return fromWire<typeof SEARCH_RESULT, SearchResult>(SEARCH_RESULT, answer);
    } catch (error) {
      // As in the library: throws the signal's own reason.
      signal?.throwIfAborted();
      throw error;
    }
  }

  async searchMemory(query: string, input: SearchMemoryInput = {}): Promise<readonly Memory[]> {
    const body = toBody({ query, ...known("searchMemory", input) });
    const call = { method: "POST", path: "/v1/memories/search", repeatable: true, body } as const;
    return fromWire({ memories: [MEMORY] }, await this.connection.call(call)).memories;
  }

  async searchFacts(query: string, input: SearchFactsInput = {}): Promise<readonly Fact[]> {
    const body = toBody({ query, ...known("searchFacts", input) });
    const call = { method: "POST", path: "/v1/facts/search", repeatable: true, body } as const;
    return fromWire({ facts: [FACT] }, await this.connection.call(call)).facts;
  }

  async indexStatus(): Promise<IndexStatus> {
    return this.#get(INDEX_STATUS, "/v1/index");
  }

  /** `onProgress` is not called: the server answers when it is done. */
  async maintainIndex(task: IndexTask): Promise<IndexStatus> {
    const body = toBody({ task });
    const call = { method: "POST", path: "/v1/admin/index", body, slow: true } as const;
    return fromWire(INDEX_STATUS, await this.connection.call(call));
  }

  async putMemory(input: MemoryInput): Promise<Memory> {
    const { agent, name, ...rest } = known("putMemory", input, "memory");
    const path = at`/v1/memories/${agent}/${name}`;
    const call = { method: "PUT", path, body: toBody(rest) } as const;
    return fromWire(MEMORY, await this.connection.call(call));
  }

  async getMemory(agent: string, name: string): Promise<Memory> {
    return this.#get(MEMORY, at`/v1/memories/${agent}/${name}`);
  }

  async listMemories(input: ListMemoriesInput = {}): Promise<readonly Memory[]> {
    const { agent, after, limit } = known("listMemories", input);
    const query = { agent, limit, afterAgent: after?.agent, afterName: after?.name };
    return (await this.#get({ memories: [MEMORY] }, "/v1/memories", query)).memories;
  }

  async deleteMemory(agent: string, name: string): Promise<void> {
    await this.connection.call({ method: "DELETE", path: at`/v1/memories/${agent}/${name}` });
  }

  async getFact(id: string): Promise<Fact> {
    return this.#get(FACT, at`/v1/facts/${id}`);
  }

  async listFacts(input: ListFactsInput = {}): Promise<readonly Fact[]> {
    return (await this.#get({ facts: [FACT] }, "/v1/facts", sent("listFacts", input))).facts;
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
    return { ...fromWire(SWEEP, await this.connection.call(call)), more: false };
  }

  async tenantStatus(): Promise<TenantStatus | undefined> {
    const answer = { status: { of: TENANT_STATUS, null: true } } as const;
    return (await this.#get(answer, "/v1/status")).status ?? undefined;
  }

  async setQuota(quota: Partial<Quota>): Promise<void> {
    await this.connection.call({ method: "PUT", path: "/v1/admin/quota", body: toBody(quota) });
  }

  /** The answer to a request without effect. */
  async #get<const Kind, Value extends ValueOf<Kind> = ValueOf<Kind>>(
    answer: Kind,
    path: string,
    fields: object = {},
  ): Promise<Value> {
    const call = { method: "GET", path, query: toQuery(fields) } as const;
    return fromWire<Kind, Value>(answer, await this.connection.call(call));
  }

  #findTombstone(query: Record<string, string>): Promise<Tombstone | undefined> {
    return unlessMissing(async () => {
      const call = { method: "GET", path: "/v1/tombstones", query } as const;
      return fromWire(TOMBSTONE, await this.connection.call(call));
    });
  }
}
