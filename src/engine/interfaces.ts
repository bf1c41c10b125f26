/**
 * The interface of a session, local or remote.
 *
 * Derived from the classes, so that the network client has the same names, arguments and results,
 * or does not compile. Code written against it works with both.
 */

import type { Shares } from "./access/shares.ts";
import type { Engine } from "./engine.ts";
import type { ForkInput } from "./fork.ts";
import type { OriginalsApi } from "./import/ingested-files.ts";
import type { MessageStream, OpenMessageInput } from "./message-stream.ts";
import type { RecordsApi } from "./records/records.ts";
import type { Routes } from "./routes/routes.ts";
import type { SessionHandle } from "./session-handle.ts";
import type { CreateSessionInput } from "./session-input.ts";
import type { EnsureSessionInput } from "./sessions/resolve-session.ts";
import type { TenantEngine } from "./tenant-engine.ts";

export type MessageApi = Pick<MessageStream, Exclude<keyof MessageStream, "hold" | "leave">>;

/** Without leases, which exist only beside the store. */
export interface SessionApi
  extends Omit<
    Pick<SessionHandle, keyof SessionHandle>,
    "openMessage" | "continueMessage" | "fork" | "holdLease"
  > {
  openMessage(input: OpenMessageInput): Promise<MessageApi>;
  continueMessage(id: string, lease: string): Promise<MessageApi>;
  fork(input: ForkInput): Promise<SessionApi>;
}

/**
 * Methods that exist only beside the store: measures for gateways, notes and look-ups for servers,
 * models, all data of an owner.
 */
type OwnNames =
  | "createSession"
  | "ensureSession"
  | "getSession"
  | "session"
  | "routes"
  | "originals"
  | "records"
  | "shares"
  | "sessionSizes"
  | "findSessionsWithText"
  | "findLines"
  | "noteAct"
  | "textModel"
  | "owned"
  | "resolveSessionId";

export interface TenantApi extends Omit<Pick<TenantEngine, keyof TenantEngine>, OwnNames> {
  createSession(input?: CreateSessionInput): Promise<SessionApi>;
  ensureSession(input: EnsureSessionInput): Promise<SessionApi>;
  getSession(id: string): Promise<SessionApi>;
  /** Absent on a remote tenant: its server traces. */
  findSessionsWithText?: TenantEngine["findSessionsWithText"];
  findLines?: TenantEngine["findLines"];
  session(id: string): SessionApi;
  readonly routes: RoutesApi;
  readonly originals: OriginalsApi;
  readonly records: RecordsApi;
  readonly shares: Pick<Shares, keyof Shares>;
}

export type RoutesApi = Pick<Routes, keyof Routes>;

/** Without `listTenants`: a server shows a caller only its own tenant. */
export interface EngineApi
  extends TenantApi,
    Pick<
      Engine,
      "status" | "verify" | "checkIntegrity" | "sweepAll" | "close" | typeof Symbol.asyncDispose
    > {
  forTenant(name: string): TenantApi;
}
