/** The host's settings of an MCP server: tenant, access and caller. Requests cannot change them. */

import type { WireSessionStatus } from "../api/gateway.ts";
import type { BlameInput } from "../blame/blame.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { Access } from "../model/access.ts";
import type { JsonObject } from "../model/json.ts";
import type { SearchHit } from "../search/request.ts";

/** Transcripts on this machine that are not stored yet. */
export interface Unread {
  readonly files: number;
  readonly bytes: number;
  /** False: the time limit ended the scan early, so more may exist. */
  readonly complete: boolean;
}

/** What an agent's hook tells: its own fields by the names of most agents. */
export interface HookQuestion {
  readonly agent: string;
  readonly payload: JsonObject;
}

export interface McpHost {
  /** The tenant's calls, under `access`. */
  readonly tenant: TenantApi;
  readonly access: Access;
  /** Told to clients. */
  readonly version: string;
  /** `agent`: the few tools of a coding agent are listed, under their own names. Default: all. */
  readonly tools?: "agent" | "all";
  /** The caller's working folder. */
  readonly cwd?: string;
  /** The caller's own sessions, if known: our ids or the agent's. */
  readonly sessions?: readonly string[];
  /** When the caller started its server, in epoch milliseconds. Absent over HTTP. */
  readonly startedAt?: number;
  /** The environment that the client started this process with. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** The environment says that nothing of the caller's session is kept: it is made incognito. */
  readonly incognito?: boolean;
  /** Names a call by its request's id: the same call, asked again, has the same name. */
  readonly callKey?: (request: string | number) => string;
  /** The name of this call. */
  readonly call?: string;
  /** Reads new transcript lines before a call is answered. Never rejects. */
  readonly freshen?: () => Promise<Unread>;
  /** Adds to hits how many of their files have changed since. Never rejects. */
  readonly changedFiles?: (hits: readonly SearchHit[]) => Promise<readonly SearchHit[]>;
  /** What git knows of `FILE[:LINE[-LINE]]`, a commit or `A..B` in the caller's repository. */
  readonly history?: (subject: string) => Promise<BlameInput>;
  /** What memory says in a moment of the agent, in the agent's form; empty: nothing. Never rejects. */
  readonly answerHook?: (question: HookQuestion) => Promise<string>;
  /** A session's gateway status, if the host runs one: its key, its next reset. */
  readonly standing?: (sessionId: string) => Promise<WireSessionStatus>;
  /** The reference time of ages. Default: the clock. */
  readonly now?: () => number;
  /** Receives bugs in full; callers get a general sentence. */
  readonly onError?: (error: unknown) => void;
}

export function nowOf({ now }: Pick<McpHost, "now">): number {
  return now === undefined ? Date.now() : now();
}
