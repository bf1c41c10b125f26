/** Routes, resets, a session's status and maintenance on the wire. */

import type { InboundResult } from "../gateway/inbound-result.ts";
import type { MaintenanceReport } from "../gateway/maintenance/maintain.ts";
import type { SessionStatus } from "../gateway/status/session-status.ts";
import type { GatewayReply, ReplyReason } from "../gateway/turns/reply.ts";
import type { JsonObject } from "../model/json.ts";
import type { RouteSession, SessionRoute } from "../model/route.ts";
import { toWireEntry, type WireEntry } from "./entry.ts";
import { fromWireTime, toWireTime } from "./wire.ts";

export interface WireRoute {
  readonly key: string;
  readonly session_id: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** By the names that gateways use: `thinkingLevel`, `memoryFlushAt` and others. */
  readonly fields: JsonObject;
}

export interface WireRouteSession {
  readonly key: string;
  readonly session_id: string;
  readonly version: number;
  readonly since: string;
  readonly reason: string;
}

export interface WireSessionStatus {
  readonly session_id: string;
  readonly key: string | null;
  readonly current: boolean;
  readonly agent: string;
  readonly message_count: number;
  readonly started_at: string;
  readonly last_interaction_at: string;
  readonly context_tokens: number;
  readonly estimated: boolean;
  readonly model: string | null;
  readonly window_tokens: number;
  readonly window_source: string;
  readonly compaction_count: number;
  readonly memory_flush_at: string | null;
  readonly next_reset: { readonly at: string; readonly reason: string } | null;
  readonly reset_rule: string;
}

export interface WireInbound {
  readonly key: string;
  readonly session_id: string | null;
  readonly action: string;
  readonly reason: string;
  readonly why: string;
  readonly previous_session_id: string | null;
  readonly deliver: boolean;
  readonly text: string;
  readonly actor: string;
  readonly entry: WireEntry | null;
  readonly answer: string | null;
  readonly route: WireRoute | null;
}

export interface WireReply extends WireInbound {
  readonly reply: string | null;
  readonly reply_reason: ReplyReason | "not_stored";
  readonly reply_entry_id: string | null;
  readonly silent: boolean;
  readonly notices: readonly string[];
  readonly thoughts: readonly string[];
}

export interface WireMaintenance {
  readonly mode: string;
  readonly applied: boolean;
  readonly deletions: readonly {
    readonly session_id: string;
    readonly key: string | null;
    readonly reason: string;
    readonly last_interaction_at: string;
    readonly content_bytes: number;
  }[];
  readonly skipped: readonly string[];
  readonly spared: MaintenanceReport["spared"];
  readonly sessions: number;
  readonly content_bytes: number;
  readonly content_bytes_after: number;
  readonly over_budget: boolean;
}

export function toWireRoute(route: SessionRoute): WireRoute {
  return {
    key: route.key,
    session_id: route.sessionId,
    version: route.version,
    created_at: toWireTime(route.createdAt),
    updated_at: toWireTime(route.updatedAt),
    fields: route.fields as JsonObject,
  };
}

export function fromWireRoute(route: WireRoute): SessionRoute {
  return {
    key: route.key,
    sessionId: route.session_id,
    version: route.version,
    createdAt: fromWireTime(route.created_at),
    updatedAt: fromWireTime(route.updated_at),
    fields: route.fields,
  };
}

export function toWireRouteSession(session: RouteSession): WireRouteSession {
  const { key, sessionId, version, since, reason } = session;
  return { key, session_id: sessionId, version, since: toWireTime(since), reason };
}

export function fromWireRouteSession(session: WireRouteSession): RouteSession {
  const { key, session_id: sessionId, version, since, reason } = session;
  return { key, sessionId, version, since: fromWireTime(since), reason };
}

export function toWireSessionStatus(status: SessionStatus): WireSessionStatus {
  const { memoryFlushAt, nextReset, window } = status;
  return {
    session_id: status.sessionId,
    key: status.key,
    current: status.current,
    agent: status.agent,
    message_count: status.messageCount,
    started_at: toWireTime(status.startedAt),
    last_interaction_at: toWireTime(status.lastInteractionAt),
    context_tokens: status.contextTokens,
    estimated: status.estimated,
    model: status.model,
    window_tokens: window.tokens,
    window_source: window.source,
    compaction_count: status.compactionCount,
    memory_flush_at: memoryFlushAt === null ? null : toWireTime(memoryFlushAt),
    next_reset:
      nextReset === null ? null : { at: toWireTime(nextReset.at), reason: nextReset.reason },
    reset_rule: status.resetRule,
  };
}

export function fromWireSessionStatus(status: WireSessionStatus): SessionStatus {
  const { memory_flush_at: flushed, next_reset: next } = status;
  return {
    sessionId: status.session_id,
    key: status.key,
    current: status.current,
    agent: status.agent,
    messageCount: status.message_count,
    startedAt: fromWireTime(status.started_at),
    lastInteractionAt: fromWireTime(status.last_interaction_at),
    contextTokens: status.context_tokens,
    estimated: status.estimated,
    model: status.model,
    window: {
      tokens: status.window_tokens,
      source: status.window_source as SessionStatus["window"]["source"],
    },
    compactionCount: status.compaction_count,
    memoryFlushAt: flushed === null ? null : fromWireTime(flushed),
    nextReset:
      next === null
        ? null
        : {
            at: fromWireTime(next.at),
            reason: next.reason as NonNullable<SessionStatus["nextReset"]>["reason"],
          },
    resetRule: status.reset_rule,
  };
}

export function toWireInbound(result: InboundResult): WireInbound {
  const { key, action, reason, why, deliver, text, actor, answer, entry, route } = result;
  return {
    key,
    session_id: result.session?.id ?? null,
    action,
    reason,
    why,
    previous_session_id: result.previousSessionId,
    deliver,
    text,
    actor,
    entry: entry === null ? null : toWireEntry(entry),
    answer,
    route: route === null ? null : toWireRoute(route),
  };
}

export function toWireReply(result: GatewayReply): WireReply {
  const { inbound, reply, reason, silent, notices, thoughts, entry } = result;
  return {
    ...toWireInbound(inbound),
    reply,
    reply_reason: reason,
    reply_entry_id: entry?.id ?? null,
    silent,
    notices,
    thoughts,
  };
}

/** The reply for a message that was only routed to its session. */
export function toWireUnanswered(result: InboundResult): WireReply {
  return {
    ...toWireInbound(result),
    reply: null,
    reply_reason: "not_stored",
    reply_entry_id: null,
    silent: false,
    notices: [],
    thoughts: [],
  };
}

export function toWireMaintenance(report: MaintenanceReport): WireMaintenance {
  return {
    mode: report.mode,
    applied: report.applied,
    deletions: report.deletions.map(({ sessionId, key, reason, ...figures }) => ({
      session_id: sessionId,
      key,
      reason,
      last_interaction_at: toWireTime(figures.lastInteractionAt),
      content_bytes: figures.contentBytes,
    })),
    skipped: report.skipped,
    spared: report.spared,
    sessions: report.sessions,
    content_bytes: report.contentBytes,
    content_bytes_after: report.contentBytesAfter,
    over_budget: report.overBudget,
  };
}

export function fromWireMaintenance(report: WireMaintenance): MaintenanceReport {
  return {
    mode: report.mode as MaintenanceReport["mode"],
    applied: report.applied,
    deletions: report.deletions.map(({ session_id, key, reason, ...figures }) => ({
      sessionId: session_id,
      key,
      reason: reason as MaintenanceReport["deletions"][number]["reason"],
      lastInteractionAt: fromWireTime(figures.last_interaction_at),
      contentBytes: figures.content_bytes,
    })),
    skipped: report.skipped,
    spared: report.spared,
    sessions: report.sessions,
    contentBytes: report.content_bytes,
    contentBytesAfter: report.content_bytes_after,
    overBudget: report.over_budget,
  };
}
