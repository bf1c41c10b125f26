/**
 * Routes: map a conversation's key to its current session.
 *
 * A route also holds the conversation's labels, levels, overrides and counters, under gateways'
 * names.
 */

import type { JsonObject } from "./json.ts";
import type { FieldsOf } from "./shape.ts";

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

export const SESSION_ROUTE = {
  key: "text",
  sessionId: "text",
  /** 1, 2, 3 …: incremented by every change, for compare-and-swap. */
  version: "count",
  createdAt: "time",
  /** The last change of the route, bookkeeping included; not a message's time. */
  updatedAt: "time",
  fields: "object",
} as const;

export interface SessionRoute extends FieldsOf<typeof SESSION_ROUTE> {
  readonly fields: RouteFields & JsonObject;
}

export const ROUTE_SESSION = {
  key: "text",
  sessionId: "text",
  /** The route's version at which it became current. */
  version: "count",
  since: "time",
  /** The reason: `first`, `daily`, `idle`, `command`, or the writer's. */
  reason: "text",
} as const;

/** A current or past session of a route. */
export interface RouteSession extends FieldsOf<typeof ROUTE_SESSION> {}
