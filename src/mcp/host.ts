/** The host's settings of an MCP server: tenant, access and caller. Requests cannot change them. */

import type { WireSessionStatus } from "../api/gateway.ts";
import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import type { Access } from "../model/access.ts";

/** Transcripts on this machine that are not stored yet. */
export interface Unread {
  readonly files: number;
  readonly bytes: number;
  /** False if there was no time to look at everything: then there may be more. */
  readonly complete: boolean;
}

export interface McpHost {
  /** The calls of the tenant that `access` names. */
  readonly tenant: TenantApi;
  readonly access: Access;
  /** Told to clients. */
  readonly version: string;
  /** The folder in which the caller works. */
  readonly cwd?: string;
  /** The caller's own sessions, where they are known: ids of ours, or those of the agent. */
  readonly sessions?: readonly string[];
  /** The environment that the client has started this process with. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Reads new transcript lines before a call is answered. Never rejects. */
  readonly freshen?: () => Promise<Unread>;
  /** How a session stands with the gateway, where the host runs one: its key, its next reset. */
  readonly standing?: (sessionId: string) => Promise<WireSessionStatus>;
  /** What ages count from; the clock if left out. */
  readonly now?: () => number;
  /** Hears of bugs, with all that is known of them. Callers are told only that there was one. */
  readonly onError?: (error: unknown) => void;
}

export function nowOf({ now }: Pick<McpHost, "now">): number {
  return now === undefined ? Date.now() : now();
}
