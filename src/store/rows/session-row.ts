/** From rows of `sessions` (s) and `session_state` (t) to a session. */

import type { IngestFigures, Origin, Retention, Session } from "../../model/session.ts";
import { sessionDamaged } from "../damage/damage-errors.ts";
import { storedObject } from "../damage/stored-json.ts";
import type { EraseMode, RetentionDue } from "../erase-records.ts";
import type { Row, SessionPatch, SessionSize, UsageSum } from "../records.ts";

/** The columns of a session, read from both of its tables. */
export const SESSION_COLUMNS = `s.session, s.id, s.agent, s.created_by, s.owner, s.created_at,
  s.started_at, s.title, s.summary, s.metadata, s.ttl_seconds, s.retention, s.parent_session_id,
  s.fork_entry_id, s.source, s.workstation, s.project_id, s.project_path, s.git_branch, s.repo, s.file,
  s.origin_key, t.leaf_id, t.last_sequence, t.message_count, t.updated_at, t.last_interaction_at,
  t.last_write_at, t.input_tokens, t.output_tokens, t.cache_creation_tokens, t.cache_read_tokens,
  t.summarized_through, s.exchange_count, s.tool_counts, s.file_mtime, s.first_msg_at,
  s.last_msg_at, s.cost_usd, s.short_id`;

/** The columns of a session's figures, in the order of `figureValues`. */
export function figureValues(figures: IngestFigures | undefined): (number | string | null)[] {
  if (figures === undefined) return [null, null, null, null, null, null];
  const { exchangeCount, toolCounts, fileMtime, firstMessageAt, lastMessageAt } = figures;
  const tools = JSON.stringify(toolCounts);
  return [exchangeCount, tools, fileMtime, firstMessageAt, lastMessageAt, figures.costUsd ?? null];
}

/** The columns of an origin that may become known later, in the order of `originValues`. */
export function originValues(origin: SessionPatch["origin"]): (string | null)[] {
  const { key, projectId, projectPath, gitBranch, repo } = origin ?? {};
  return [key, projectId, projectPath, gitBranch, repo].map((value) => value ?? null);
}

/** Columns that an older version did not fill have their defaults here. */
export function toSession(tenant: string, row: Row, participants: readonly string[]): Session {
  const createdAt = Number(row["created_at"]);
  const id = String(row["id"]);
  const damaged = (cause: unknown) =>
    sessionDamaged(id, "its metadata or its figures are no JSON", cause, {
      lastInteractionAt: Number(row["last_interaction_at"]),
      number: Number(row["session"]),
    });
  return {
    id,
    shortId: String(row["short_id"] ?? id),
    tenant,
    agent: String(row["agent"]),
    createdBy: String(row["created_by"]),
    createdAt,
    owner: String(row["owner"]),
    title: String(row["title"] ?? ""),
    summary: row["summary"] as string | null,
    participants,
    metadata: storedObject(row["metadata"], damaged),
    ttl: row["ttl_seconds"] as number | null,
    retention: (row["retention"] ?? "full") as Retention,
    parentSessionId: row["parent_session_id"] as string | null,
    forkPoint: row["fork_entry_id"] as string | null,
    origin: toOrigin(row),
    ...toFigures(row, damaged),
    startedAt: Number(row["started_at"] ?? createdAt),
    updatedAt: Number(row["updated_at"]),
    lastInteractionAt: Number(row["last_interaction_at"]),
    lastWriteAt: Number(row["last_write_at"]),
    messageCount: Number(row["message_count"]),
    entryCount: Number(row["last_sequence"]),
    tokens: {
      inputTokens: Number(row["input_tokens"]),
      outputTokens: Number(row["output_tokens"]),
      cacheCreationTokens: Number(row["cache_creation_tokens"]),
      cacheReadTokens: Number(row["cache_read_tokens"]),
    },
    leaf: row["leaf_id"] as string | null,
    summarizedThrough: row["summarized_through"] as string | null,
  };
}

function toFigures(
  row: Row,
  damaged: (cause: unknown) => Error,
): { readonly figures?: IngestFigures } {
  const count = row["exchange_count"] ?? null;
  if (count === null) return {};
  const cost = row["cost_usd"] ?? null;
  return {
    figures: {
      exchangeCount: Number(count),
      toolCounts: storedObject(row["tool_counts"], damaged) as Record<string, number>,
      fileMtime: row["file_mtime"] as number | null,
      firstMessageAt: row["first_msg_at"] as number | null,
      lastMessageAt: row["last_msg_at"] as number | null,
      ...(cost === null ? {} : { costUsd: Number(cost) }),
    },
  };
}

export function toSessionSize(row: Row): SessionSize {
  return {
    sessionId: String(row["id"]),
    contentBytes: Number(row["content_bytes"]),
    openMessages: Number(row["open_messages"]),
  };
}

/** In milliseconds. */
export const USAGE_SPAN = 900_000;

/** The columns of a sum of usage: `s` is a session, `e` its entries. */
export const USAGE_SUMS: string = `s.id, e.model, e.created_at / ${USAGE_SPAN} AS span, count(*) AS messages,
  sum(e.input_tokens) AS input_tokens, sum(e.output_tokens) AS output_tokens,
  sum(e.cache_creation_tokens) AS cache_creation_tokens,
  sum(e.cache_read_tokens) AS cache_read_tokens`;

export function toUsageSum(row: Row): UsageSum {
  return {
    sessionId: String(row["id"]),
    model: row["model"] as string | null,
    at: Number(row["span"]) * USAGE_SPAN,
    messages: Number(row["messages"]),
    usage: {
      inputTokens: Number(row["input_tokens"] ?? 0),
      outputTokens: Number(row["output_tokens"] ?? 0),
      cacheCreationTokens: Number(row["cache_creation_tokens"] ?? 0),
      cacheReadTokens: Number(row["cache_read_tokens"] ?? 0),
    },
  };
}

export function toRetentionDue(row: Row): RetentionDue {
  return {
    sessionId: String(row["id"]),
    retention: row["retention"] as EraseMode,
    appliedThrough: Number(row["retention_applied"] ?? 0),
  };
}

const ORIGIN_COLUMNS = {
  source: "source",
  workstation: "workstation",
  projectId: "project_id",
  projectPath: "project_path",
  gitBranch: "git_branch",
  repo: "repo",
  file: "file",
  key: "origin_key",
} as const satisfies Record<keyof Origin, string>;

function toOrigin(row: Row): Origin {
  const present = Object.entries(ORIGIN_COLUMNS).filter(([, column]) => row[column] !== null);
  return Object.fromEntries(present.map(([field, column]) => [field, row[column]])) as Origin;
}
