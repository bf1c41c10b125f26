/** Maps rows of `sessions` (s) and `session_state` (t) to a session. */

import type { Usage } from "../../model/entry.ts";
import type { IngestFigures, Origin, Session } from "../../model/session.ts";
import {
  FIGURE_FIELDS,
  type Field,
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../../model/session-fields.ts";
import { sessionDamaged } from "../damage/damage-errors.ts";
import { storedObject } from "../damage/stored-json.ts";
import type { ModelCount, Row, SessionSize, UsageSum } from "../records.ts";
import type { EraseMode, RetentionDue } from "../requests.ts";
import { columnOf } from "./session-values.ts";

const TOKEN_COLUMNS = {
  inputTokens: "t.input_tokens",
  outputTokens: "t.output_tokens",
  cacheCreationTokens: "t.cache_creation_tokens",
  cacheReadTokens: "t.cache_read_tokens",
} as const satisfies Record<keyof Usage, string>;

/** The columns of a session, read from both of its tables. */
export const SESSION_COLUMNS: string = [
  "s.session",
  ...[SESSION_FIELDS, ORIGIN_FIELDS, FIGURE_FIELDS].flatMap((table) =>
    Object.values(table as Record<string, { readonly column?: string }>).flatMap(
      ({ column }) => column ?? [],
    ),
  ),
  ...Object.values(TOKEN_COLUMNS),
].join(", ");

export function toSession(tenant: string, row: Row, participants: readonly string[]): Session {
  const damaged = (cause: unknown) =>
    sessionDamaged(String(row["id"]), "its metadata or its figures are no JSON", cause, {
      lastInteractionAt: Number(row["last_interaction_at"]),
      number: Number(row["session"]),
    });
  const composed: Readonly<Record<string, unknown>> = {
    tenant,
    participants,
    origin: toOrigin(row),
    figures: toFigures(row, damaged),
    tokens: toTokens(row),
  };
  const session: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(SESSION_FIELDS)) {
    if (field.column === undefined) {
      if (composed[name] !== undefined) session[name] = composed[name];
      continue;
    }
    const value = toValue(field, row, damaged);
    session[name] = value === null && field.fallbackTo ? session[field.fallbackTo] : value;
  }
  return session as unknown as Session;
}

/** Defaults of columns that an older version did not fill. */
function toValue(field: Field, row: Row, damaged: (cause: unknown) => Error): unknown {
  const stored = row[columnOf(field)] ?? field.fallback ?? null;
  if (field.kind === "json" || field.kind === "counts") return storedObject(stored, damaged);
  if (stored === null) return null;
  return field.kind === "text" || field.kind === "retention" ? String(stored) : Number(stored);
}

/** Undefined unless the session was ingested. */
function toFigures(row: Row, damaged: (cause: unknown) => Error): IngestFigures | undefined {
  if ((row["exchange_count"] ?? null) === null) return undefined;
  const known = fieldsOf(FIGURE_FIELDS)
    .map(([name, field]) => [name, toValue(field, row, damaged), field] as const)
    .filter(([, value, { optional }]) => value !== null || optional !== true);
  return Object.fromEntries(
    known.map(([name, value]) => [name, value]),
  ) as unknown as IngestFigures;
}

function toOrigin(row: Row): Origin {
  const known = Object.entries(ORIGIN_FIELDS)
    .map(([name, field]) => [name, row[columnOf(field)] ?? null])
    .filter(([, value]) => value !== null);
  return Object.fromEntries(known) as Origin;
}

function toTokens(row: Row): Usage {
  const counts = Object.entries(TOKEN_COLUMNS).map(([name, column]) => [
    name,
    Number(row[columnOf({ column })]),
  ]);
  return Object.fromEntries(counts) as unknown as Usage;
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

/** The columns of a usage sum: `s` is a session, `e` its entries. */
export const USAGE_SUMS: string = `s.id, e.model, e.created_at / ${USAGE_SPAN} AS span, count(*) AS messages,
  sum(e.input_tokens) AS input_tokens, sum(e.output_tokens) AS output_tokens,
  sum(e.cache_creation_tokens) AS cache_creation_tokens,
  sum(e.cache_read_tokens) AS cache_read_tokens`;

export function toModelCount(row: Row): ModelCount {
  return { model: String(row["model"]), sessions: Number(row["sessions"]) };
}

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
