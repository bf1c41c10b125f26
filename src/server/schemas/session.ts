/** A session in answers. */

import { z } from "zod";
import type { WireSession } from "../../api/session.ts";
import type { WireUsage } from "../../api/usage.ts";
import { count, counts, jsonObject, time } from "./common.ts";

const text = z.string();
const textOrNull = text.nullable();

export const usage: z.ZodType<WireUsage> = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_tokens: count,
    cache_read_tokens: count,
  })
  .meta({ id: "Usage" });

const origin = z
  .object({
    source: textOrNull,
    workstation: textOrNull,
    project_id: textOrNull,
    project_path: textOrNull,
    git_branch: textOrNull,
    repo: textOrNull,
    file: textOrNull,
    key: textOrNull,
  })
  .meta({ id: "Origin" });

export const RETENTIONS = ["full", "audit-only", "ephemeral"] as const;

export const session: z.ZodType<WireSession> = z
  .object({
    id: text,
    short_id: text,
    tenant: text,
    agent: text,
    created_by: text,
    created_at: time,
    title: text,
    updated_at: time,
    message_count: count,
    summary: textOrNull,
    owner: text,
    participants: z.array(text),
    metadata: jsonObject,
    ttl: z.number().nullable(),
    retention: z.enum(RETENTIONS),
    parent_session_id: textOrNull,
    fork_point: textOrNull,
    origin,
    workstation_id: textOrNull,
    project_id: textOrNull,
    project_path: textOrNull,
    git_branch: textOrNull,
    exchange_count: count.nullable(),
    tool_counts: counts.nullable(),
    file_mtime: time.nullable(),
    first_msg_at: time.nullable(),
    last_msg_at: time.nullable(),
    cost_usd: z.number().nullable(),
    started_at: time,
    last_interaction_at: time,
    last_write_at: time,
    entry_count: count,
    tokens: usage,
    leaf: textOrNull,
    summarized_through: textOrNull,
  })
  .meta({ id: "Session" });

export const sessionPage: z.ZodType = z
  .object({ sessions: z.array(session), next_cursor: textOrNull })
  .meta({ id: "SessionPage" });

export const tombstone: z.ZodType = z
  .object({
    session_id: text,
    origin_key: textOrNull,
    entry_count: count,
    digest: text,
    reason: text,
    deleted_at: time,
  })
  .meta({ id: "Tombstone" });

export const derived: z.ZodType = z
  .object({
    forks: z.array(text),
    memories: z.array(z.object({ agent: text, name: text })),
    facts: count,
    has_summary: z.boolean(),
  })
  .meta({ id: "Derived" });
