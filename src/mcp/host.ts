/**
 * What an MCP server is given by who starts it: whose data, how far the caller may go, and what is
 * known of the caller. Nothing of it can be changed by a request.
 */

import type { WireSessionStatus } from "../api/gateway.ts";
import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import type { Access } from "../model/access.ts";

export interface McpHost {
  /** Of the tenant that `access` names. */
  readonly tenant: TenantApi;
  readonly access: Access;
  /** Told to clients. */
  readonly version: string;
  /** The folder in which the caller works: a session that is being written there is its own. */
  readonly cwd?: string;
  /** The caller's own session, where the host knows it. */
  readonly session?: string;
  /** How a session stands with the gateway, where the host runs one: its key, its next reset. */
  readonly standing?: (sessionId: string) => Promise<WireSessionStatus>;
  /** Hears of bugs, with all that is known of them. Callers are told only that there was one. */
  readonly onError?: (error: unknown) => void;
}
