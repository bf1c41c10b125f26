/** A session on the wire: ConversationMeta under its own names, and our fields. */

import type { JsonObject } from "../model/json.ts";
import type { IngestFigures, Origin, Retention, Session } from "../model/session.ts";
import { fromWireUsage, toWireUsage, type WireUsage } from "./usage.ts";
import { fromWireFields, fromWireTime, toWireTime } from "./wire.ts";

export interface WireOrigin {
  readonly source: string | null;
  readonly workstation: string | null;
  readonly project_id: string | null;
  readonly project_path: string | null;
  readonly git_branch: string | null;
  readonly repo: string | null;
  readonly file: string | null;
  readonly key: string | null;
}

export interface WireSession {
  readonly id: string;
  /** What people type; unique within the tenant. */
  readonly short_id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly title: string;
  readonly updated_at: string;
  readonly message_count: number;
  readonly summary: string | null;
  readonly owner: string;
  readonly participants: readonly string[];
  readonly metadata: JsonObject;
  readonly ttl: number | null;
  readonly retention: Retention;
  readonly parent_session_id: string | null;
  readonly fork_point: string | null;
  readonly origin: WireOrigin;
  readonly workstation_id: string | null;
  readonly project_id: string | null;
  readonly project_path: string | null;
  readonly git_branch: string | null;
  /** The six below are null unless the session was read from files. */
  readonly exchange_count: number | null;
  readonly tool_counts: Readonly<Record<string, number>> | null;
  readonly file_mtime: string | null;
  readonly first_msg_at: string | null;
  readonly last_msg_at: string | null;
  /** Null also where the source does not say. */
  readonly cost_usd: number | null;
  readonly started_at: string;
  readonly last_interaction_at: string;
  readonly last_write_at: string;
  readonly entry_count: number;
  readonly tokens: WireUsage;
  readonly leaf: string | null;
  readonly summarized_through: string | null;
}

export function toWireSession(session: Session): WireSession {
  const { origin } = session;
  return {
    id: session.id,
    short_id: session.shortId,
    tenant: session.tenant,
    agent: session.agent,
    created_by: session.createdBy,
    created_at: toWireTime(session.createdAt),
    title: session.title,
    updated_at: toWireTime(session.updatedAt),
    message_count: session.messageCount,
    summary: session.summary,
    owner: session.owner,
    participants: session.participants,
    metadata: session.metadata,
    ttl: session.ttl,
    retention: session.retention,
    parent_session_id: session.parentSessionId,
    fork_point: session.forkPoint,
    origin: {
      source: origin.source ?? null,
      workstation: origin.workstation ?? null,
      project_id: origin.projectId ?? null,
      project_path: origin.projectPath ?? null,
      git_branch: origin.gitBranch ?? null,
      repo: origin.repo ?? null,
      file: origin.file ?? null,
      key: origin.key ?? null,
    },
    workstation_id: origin.workstation ?? null,
    project_id: origin.projectId ?? null,
    project_path: origin.projectPath ?? null,
    git_branch: origin.gitBranch ?? null,
    ...toWireFigures(session.figures),
    started_at: toWireTime(session.startedAt),
    last_interaction_at: toWireTime(session.lastInteractionAt),
    last_write_at: toWireTime(session.lastWriteAt),
    entry_count: session.entryCount,
    tokens: toWireUsage(session.tokens),
    leaf: session.leaf,
    summarized_through: session.summarizedThrough,
  };
}

export function fromWireSession(session: WireSession): Session {
  return {
    id: session.id,
    // A server of an older version has none.
    shortId: session.short_id ?? session.id,
    tenant: session.tenant,
    agent: session.agent,
    createdBy: session.created_by,
    createdAt: fromWireTime(session.created_at),
    owner: session.owner,
    title: session.title,
    summary: session.summary,
    participants: session.participants,
    metadata: session.metadata,
    ttl: session.ttl,
    retention: session.retention,
    parentSessionId: session.parent_session_id,
    forkPoint: session.fork_point,
    origin: fromWireOrigin(session.origin),
    ...fromWireFigures(session),
    startedAt: fromWireTime(session.started_at),
    updatedAt: fromWireTime(session.updated_at),
    lastInteractionAt: fromWireTime(session.last_interaction_at),
    lastWriteAt: fromWireTime(session.last_write_at),
    messageCount: session.message_count,
    entryCount: session.entry_count,
    tokens: fromWireUsage(session.tokens),
    leaf: session.leaf,
    summarizedThrough: session.summarized_through,
  };
}

/** Null becomes absent. */
function fromWireOrigin(origin: WireOrigin): Origin {
  const known = Object.entries(origin).filter(([, value]) => value !== null);
  return fromWireFields(Object.fromEntries(known)) as Origin;
}

/** Figures of an ingested session; all null for others. */
export type WireFigures = Pick<
  WireSession,
  "exchange_count" | "tool_counts" | "file_mtime" | "first_msg_at" | "last_msg_at" | "cost_usd"
>;

export function toWireFigures(figures: IngestFigures | undefined): WireFigures {
  const time = (ms: number | null | undefined) => (ms == null ? null : toWireTime(ms));
  return {
    exchange_count: figures?.exchangeCount ?? null,
    tool_counts: figures?.toolCounts ?? null,
    file_mtime: time(figures?.fileMtime),
    first_msg_at: time(figures?.firstMessageAt),
    last_msg_at: time(figures?.lastMessageAt),
    cost_usd: figures?.costUsd ?? null,
  };
}

/** The part of a session that holds its figures, if it has any. */
export function fromWireFigures(figures: WireFigures): { readonly figures?: IngestFigures } {
  if (figures.exchange_count === null) return {};
  const time = (text: string | null) => (text === null ? null : fromWireTime(text));
  return {
    figures: {
      exchangeCount: figures.exchange_count,
      toolCounts: figures.tool_counts ?? {},
      fileMtime: time(figures.file_mtime),
      firstMessageAt: time(figures.first_msg_at),
      lastMessageAt: time(figures.last_msg_at),
      ...(figures.cost_usd === null ? {} : { costUsd: figures.cost_usd }),
    },
  };
}

/** Whether only a program has asked anything in it: lists leave such sessions out unless asked. */
export function isMachineMade({ metadata }: Pick<Session, "metadata">): boolean {
  return metadata["machineMade"] === true;
}
