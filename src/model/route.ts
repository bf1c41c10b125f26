/**
 * Routes: map a conversation's key to its current session.
 *
 * A route also holds the conversation's labels, levels, overrides and counters, under gateways'
 * names.
 */

import type { JsonObject } from "./json.ts";

/** The fields that have a meaning. Others are kept as they are. */
export interface RouteFields {
  /** A transcript of the host's own, if it keeps one. */
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
  /** `deny`: what the agent says here is not delivered. */
  readonly sendPolicy?: "allow" | "deny";
  readonly providerOverride?: string;
  readonly modelOverride?: string;
  readonly authProfileOverride?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly contextTokens?: number;
  /** How often the session that the route leads to now was compacted by itself. */
  readonly compactionCount?: number;
  /** When memory was last flushed before a compaction: epoch milliseconds. */
  readonly memoryFlushAt?: number;
  /** What `compactionCount` was then. Absent, and not 0, if it never was. */
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

/** A session that a route leads to, or led to once. */
export interface RouteSession {
  readonly key: string;
  readonly sessionId: string;
  /** The route's version at which it began to. */
  readonly version: number;
  readonly since: number;
  /** Why: `first`, `daily`, `idle`, `command`, or what the writer said. */
  readonly reason: string;
}
