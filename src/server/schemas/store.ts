/** Changes, status and reports of the store in answers. */

import { z } from "zod";
import type { WireChange } from "../../api/change.ts";
import { CHANGE_KINDS } from "../../model/change.ts";
import { BACKENDS } from "../../model/inputs/choices.ts";
import { count, counts, jsonObject, jsonValue, time } from "./common.ts";

const text = z.string();
const textOrNull = text.nullable();
const countOrNull = count.nullable();

export const change: z.ZodType<WireChange> = z
  .object({
    position: count,
    cursor: text,
    kind: z.enum(CHANGE_KINDS),
    at: time,
    session_id: textOrNull,
    entry_id: textOrNull,
    details: jsonObject,
    hash: text,
  })
  .meta({ id: "Change" });

export const changePage: z.ZodType = z
  .object({
    changes: z.array(change),
    next: text.meta({ description: "The cursor after this page: pass it as `after`." }),
    end: z.boolean(),
  })
  .meta({ id: "ChangePage" });

const vectorStatus: z.ZodType = z
  .object({
    embedder: text,
    dimensions: count,
    through: count,
    lag: count,
    gaps: z.array(z.object({ from: count, to: count })),
    vectors: count,
    segments: count,
    bytes: count,
  })
  .nullable();

export const indexStatus: z.ZodType = z
  .object({ lag: count, segments: count, documents: count, bytes: count, vectors: vectorStatus })
  .meta({ id: "IndexStatus" });

export const indexReport: z.ZodType = z
  .object({
    lag: count,
    segments: count,
    documents: count,
    bytes: count,
    version: count,
    through: count,
    head: count,
    position_bytes: count,
    dead: count,
    analyzers: z.array(text),
    vectors: vectorStatus,
    holder: textOrNull,
    failure: textOrNull,
  })
  .meta({ id: "IndexReport" });

export const tenantStatus: z.ZodType = z
  .object({
    tenant: text,
    sessions: count,
    entries: count,
    messages: count,
    content_bytes: count,
    pending: count,
    memories: count,
    facts: count,
    feed_position: count,
    feed_head: text,
    index: indexStatus,
    quota: z.object({
      max_sessions: countOrNull,
      max_entries: countOrNull,
      max_content_bytes: countOrNull,
    }),
  })
  .meta({ id: "TenantStatus" });

export const loss: z.ZodType = z
  .object({
    kind: z.enum(["log", "index", "failover"]),
    found_at: time,
    commits: countOrNull,
    kept: textOrNull,
    tenant: textOrNull,
    changes: countOrNull,
  })
  .meta({ id: "Loss" });

const followerStatus: z.ZodType = z
  .object({ address: text, is_there: z.boolean(), behind: count, lag_ms: count })
  .meta({ id: "FollowerStatus" });

export const storeStatus: z.ZodType = z
  .object({
    backend: z.enum(BACKENDS),
    address: text,
    schema_version: count,
    epoch: text,
    database_bytes: count,
    wal_bytes: count,
    losses: z.array(loss),
    followers: z.array(followerStatus),
    tenants: z.array(tenantStatus),
  })
  .meta({ id: "StoreStatus" });

export const sweep: z.ZodType = z
  .object({
    deleted_sessions: z.array(z.object({ tenant: text, session_id: text })),
    aborted_messages: z.array(z.object({ tenant: text, entry_id: text })),
    forgotten_keys: count,
    collected_blobs: count,
    deleted_records: count,
    erased_entries: count,
  })
  .meta({ id: "Sweep" });

export const verification: z.ZodType = z
  .object({
    ok: z.boolean(),
    tenants: count,
    sessions: count,
    entries: count,
    changes: count,
    damage: z.array(text),
    problem_count: count,
    problems: z.array(
      z.object({ tenant: text, session_id: textOrNull, entry_id: textOrNull, problem: text }),
    ),
    heads: z.record(text, text),
  })
  .meta({ id: "Verification" });

const sum = {
  sessions: count,
  subagents: count,
  messages: count,
  tokens: count,
  input_tokens: count,
  output_tokens: count,
  cache_creation_tokens: count,
  cache_read_tokens: count,
  cost_microusd: count.meta({ description: "By list prices, in millionths of a dollar." }),
};

const { sessions: _, subagents: __, ...usedBySession } = sum;

export const stats: z.ZodType = z
  .object({
    total: z.object(sum),
    agents: z.array(z.object({ agent: text, ...sum })),
    projects: z.array(z.object({ project_path: text, ...sum })),
    models: z.array(z.object({ model: text, ...sum })),
    days: z.array(z.object({ day: text, ...sum })),
    tools: z.array(z.object({ tool: text, calls: count })).meta({
      description: "Calls in sessions that were read from agents' files, the most first.",
    }),
    busiest: z
      .array(
        z.object({
          session_id: text,
          short_id: text,
          title: text,
          agent: text,
          ...usedBySession,
        }),
      )
      .meta({ description: "The 20 sessions that used most tokens." }),
    prices: z.object({ as_of: text, unknown_models: z.array(text) }),
  })
  .meta({ id: "Stats" });

export const importReport: z.ZodType = z
  .object({
    source: text,
    sessions: z.array(
      z.object({
        session_id: textOrNull,
        created: z.boolean(),
        entries: count,
        skipped: count,
        problems: count,
        forgotten: z.boolean(),
        last: textOrNull,
      }),
    ),
    problem_counts: counts,
    problems: z.array(z.object({ line: countOrNull, code: text, message: text })),
  })
  .meta({ id: "ImportReport" });

export const problem: z.ZodType = z
  .object({
    type: text,
    title: text,
    status: count,
    detail: text,
    code: text,
    details: jsonValue,
    request_id: text,
  })
  .meta({ id: "Problem" });
