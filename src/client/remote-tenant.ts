/** A remote tenant: the names, arguments and results of `TenantEngine`. */

import { fromWireSessionStatus } from "../api/gateway.ts";
import { OTHER_TENANT_CALLS, TENANT_CALLS } from "../api/operations.ts";
import { ENGINE_CALLS, FUNCTION_CALLS } from "../api/part-operations.ts";
import type { WireSession } from "../api/session.ts";
import { fromWireSessionPage, type WireSessionPage } from "../api/session-page.ts";
import { fromWire, toWire } from "../api/shape.ts";
import { fromWireStats, type WireStats } from "../api/stats.ts";
import { toWireFields } from "../api/wire.ts";
import type { Blame, BlameInput } from "../blame/blame.ts";
import type { DigestInput, WorkDigest } from "../blame/digest.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { CompactInput } from "../engine/compaction/compact-options.ts";
import type { ImportResult } from "../engine/import/import-session.ts";
import type { ImportOptions } from "../engine/import/import-subject.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { ListMemoriesInput } from "../engine/memories.ts";
import type { SearchInput, SearchResult } from "../engine/search.ts";
import type { CreateSessionInput } from "../engine/session-input.ts";
import type { ListSessionsInput, SessionListPage } from "../engine/sessions/list-sessions.ts";
import type { EnsureSessionInput } from "../engine/sessions/resolve-session.ts";
import type { Stats, StatsInput } from "../engine/sessions/stats.ts";
import type { ChangeListPage, ListChangesInput, SubscribeInput } from "../engine/subscribe.ts";
import type { SweepReport } from "../engine/sweep.ts";
import type { MaintainOptions, MaintenanceReport } from "../gateway/maintain.ts";
import type { SessionStatus } from "../gateway/session-status.ts";
import type { ImportedSession } from "../ingest/source.ts";
import { BLAME, BLAME_COMMIT, BLAME_LINE, WORK_DIGEST } from "../model/answers/blame.ts";
import type { Change } from "../model/change.ts";
import { ENTRY, type Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { type JsonObject, stringifyJson } from "../model/json.ts";
import { MEMORY, type Memory } from "../model/note.ts";
import type { Outline } from "../model/outline.ts";
import { PAGINGS, type Paged, readPaged } from "../model/paged.ts";
import type { Review } from "../model/review.ts";
import type { Session } from "../model/session.ts";
import { NEW_SESSION } from "../model/session.ts";
import type { ValueOf } from "../model/shape.ts";
import type { OutlineInput } from "../recap/outline.ts";
import type { Recap, RecapInput } from "../recap/recap.ts";
import type { Related, RelatedInput } from "../recap/related.ts";
import type { ReviewInput } from "../recap/review.ts";
import type { Trace, TraceInput } from "../recap/trace.ts";
import { fromWireTrace } from "../recap/wire/wire-trace.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { ResumeCommand } from "../transfer/resume-command.ts";
import type { Connection } from "./connection.ts";
import { follow, listChanges } from "./follow.ts";
import { importSession } from "./import-session.ts";
import { type CallsOf, callsOf } from "./plain-calls.ts";
import { putIngestedFiles, RemoteOriginals, RemoteRoutes, RemoteShares } from "./remote-parts.ts";
import { RemoteRecords } from "./remote-records.ts";
import { RemoteSession } from "./remote-session.ts";
import { at, keyHeader, known, sent, toBody, toQuery, toWireNew } from "./request.ts";

/** Functions of the library, in one request. */
interface ServedFunctions {
  /** As `recapSessions` of the library. */
  recapSessions(input?: RecapInput): Promise<Recap>;
  /** As `relatedSessions` of the library. */
  relatedSessions(input: RelatedInput): Promise<Related>;
  /** Failures in the newest sessions, with their tools and files. */
  review(input?: ReviewInput): Promise<Review>;
  /** What was asked and done in a session, and where it has a text. */
  outlineSession(sessionId: string, input?: OutlineInput): Promise<Outline>;
  /** The command that continues the session in its own agent. */
  resumeCommand(sessionId: string): Promise<ResumeCommand>;
  /** As `maintainSessions` of `backscroll/gateway`, by the server's settings. */
  maintainSessions(options?: Pick<MaintainOptions, "dryRun">): Promise<MaintenanceReport>;
}

const CALLS: typeof TENANT_CALLS & typeof FUNCTION_CALLS = {
  ...TENANT_CALLS,
  ...FUNCTION_CALLS,
};
const PlainTenant: CallsOf<TenantApi & ServedFunctions, typeof CALLS> = callsOf<
  TenantApi & ServedFunctions,
  typeof CALLS
>(CALLS);

export class RemoteTenant extends PlainTenant implements TenantApi {
  readonly tenant: string;

  constructor(connection: Connection, tenant: string) {
    super(connection);
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

  /** As `traceWork` of the library, in one request. */
  async traceWork(input: TraceInput): Promise<Trace> {
    const body = toBody(sent("traceWork", input));
    const call = { method: "POST", path: "/v1/trace", body, repeatable: true } as const;
    return fromWireTrace(await this.connection.call(call));
  }

  /** As `blameWork` of the library, in one request. */
  async blameWork(input: BlameInput): Promise<Blame> {
    const { commits, lines, ...rest } = known("blameWork", input, "options");
    const body = toBody({
      ...rest,
      commits: toWire([BLAME_COMMIT], commits),
      ...(lines === undefined ? {} : { lines: toWire([BLAME_LINE], lines) }),
    });
    const call = { method: "POST", path: "/v1/blame", body, repeatable: true } as const;
    return fromWire(BLAME, await this.connection.call(call));
  }

  /** As `digestWork` of the library, in one request. */
  async digestWork(input: DigestInput): Promise<WorkDigest> {
    const { commits } = known("digestWork", input, "options");
    const body = toBody({ commits: toWire([BLAME_COMMIT], commits) });
    const call = { method: "POST", path: "/v1/pr", body, repeatable: true } as const;
    return fromWire(WORK_DIGEST, await this.connection.call(call));
  }

  async createSession(input: CreateSessionInput = {}): Promise<RemoteSession> {
    const { idempotency_key: _, ...session } = toWireNew({ ...NEW_SESSION, ...input }, "session");
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

  importSession(imported: ImportedSession, options: ImportOptions = {}): Promise<ImportResult> {
    return importSession(this.connection, imported, options, async (id, patch) => {
      await new RemoteSession(this.connection, this, id).update(patch);
    });
  }

  listSessions(input: ListSessionsInput = {}): Promise<Paged<SessionListPage, Session>> {
    return readPaged(PAGINGS.listSessions, input, (each) => this.#listSessions(each));
  }

  async #listSessions(input: ListSessionsInput): Promise<SessionListPage> {
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

  putIngestedFiles(workstation: string, files: readonly IngestedFile[]): Promise<void> {
    return putIngestedFiles(this.connection, workstation, files);
  }

  compactConversation(sessionId: string, input: CompactInput = {}): Promise<CompactionResult> {
    return this.session(sessionId).compact(input);
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

  searchSessions(
    query: string,
    input: SearchInput = {},
  ): Promise<Paged<SearchResult, SearchResult["hits"][number]>> {
    return readPaged(PAGINGS.searchSessions, input, (each) => this.#search(query, each));
  }

  async #search(query: string, input: SearchInput): Promise<SearchResult> {
    try {
      return await this.send(OTHER_TENANT_CALLS.searchSessions, [query, input]);
    } catch (error) {
      // As in the library: throws the signal's own reason.
      input.signal?.throwIfAborted();
      throw error;
    }
  }

  async listMemories(input: ListMemoriesInput = {}): Promise<readonly Memory[]> {
    const { agent, after, limit } = known("listMemories", input);
    const query = { agent, limit, afterAgent: after?.agent, afterName: after?.name };
    return (await this.#get({ memories: [MEMORY] }, "/v1/memories", query)).memories;
  }

  subscribe(input: SubscribeInput = {}): AsyncGenerator<Change, void> {
    return follow(this.connection, known("subscribe", input));
  }

  listChanges(input: ListChangesInput = {}): Promise<Paged<ChangeListPage, Change>> {
    return readPaged(PAGINGS.listChanges, input, async (each) =>
      listChanges(this.connection, known("listChanges", each)),
    );
  }

  async sweep(): Promise<SweepReport> {
    return { ...(await this.send<Omit<SweepReport, "more">>(ENGINE_CALLS.sweep)), more: false };
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
}
