/** The calls of a tenant, local or remote: see `session-api.ts`. */

import type { Shares } from "../access/shares.ts";
import type { OriginalsApi } from "../import/ingested-files.ts";
import type { RecordsApi } from "../records/records.ts";
import type { CreateSessionInput } from "../session-input.ts";
import type { EnsureSessionInput } from "../sessions/ensure-session.ts";
import type { TenantEngine } from "../tenant-engine.ts";
import type { RoutesApi } from "./routes-api.ts";
import type { SessionApi } from "./session-api.ts";

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
  | "noteAct"
  | "textModel"
  | "owned"
  | "resolveSessionId";

export interface TenantApi extends Omit<Pick<TenantEngine, keyof TenantEngine>, OwnNames> {
  createSession(input: CreateSessionInput): Promise<SessionApi>;
  ensureSession(input: EnsureSessionInput): Promise<SessionApi>;
  getSession(id: string): Promise<SessionApi>;
  /** Absent on a remote tenant: its server traces. */
  findSessionsWithText?: TenantEngine["findSessionsWithText"];
  session(id: string): SessionApi;
  readonly routes: RoutesApi;
  readonly originals: OriginalsApi;
  readonly records: RecordsApi;
  readonly shares: Pick<Shares, keyof Shares>;
}
