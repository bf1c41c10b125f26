/**
 * Routes: map a conversation's key to its current session.
 *
 * A route also holds the conversation's labels, levels, overrides and counters, under gateways'
 * names.
 */

import type { JsonObject } from "./json.ts";

/** The known fields. Others are kept unchanged. */
export interface RouteFields {
  /** The host's own transcript, if it keeps one. */
  readonly sessionFile?: string;
  readonly chatType?: "direct" | "group" | "channel" | "room";
  readonly provider?: string;
  readonly subject?: string;
  readonly room?: string;
  readonly space?: string;
  readonly displayName?: string;
  readonly thinkingLevel?: string;
  readonly verboseLevel?: string;
  readonly reasoningLevel?: string;
  readonly elevatedLevel?: string;
  /** `deny`: the agent's answers are not delivered. */
  readonly sendPolicy?: "allow" | "deny";
  readonly providerOverride?: string;
  readonly modelOverride?: string;
  readonly authProfileOverride?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly contextTokens?: number;
  /** Automatic compactions of the route's current session. */
  readonly compactionCount?: number;
  /** The last memory flush before a compaction: epoch milliseconds. */
  readonly memoryFlushAt?: number;
  /** `compactionCount` at that time. Absent, not 0, if there was none. */
  readonly memoryFlushCompactionCount?: number;
}

export interface SessionRoute {
  readonly key: string;
  readonly sessionId: string;
  /** 1, 2, 3 …: incremented by every change, for compare-and-swap. */
  readonly version: number;
  readonly createdAt: number;
  /** The last change of the route, bookkeeping included; not a message's time. */
  readonly updatedAt: number;
  readonly fields: RouteFields & JsonObject;
}

/** A current or past session of a route. */
export interface RouteSession {
  readonly key: string;
  readonly sessionId: string;
  /** The route's version at which it became current. */
  readonly version: number;
  readonly since: number;
  /** The reason: `first`, `daily`, `idle`, `command`, or the writer's. */
  readonly reason: string;
}
