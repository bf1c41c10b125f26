/** Routes, inbound messages and a session's status in answers. */

import { z } from "zod";
import type {
  WireMaintenance,
  WireReply,
  WireRoute,
  WireRouteSession,
  WireSessionStatus,
} from "../../api/gateway.ts";
import { count, jsonObject, time } from "./common.ts";
import { entry } from "./entry.ts";

const text = z.string();
const textOrNull = text.nullable();

export const route: z.ZodType<WireRoute> = z
  .object({
    key: text,
    session_id: text,
    version: count,
    created_at: time,
    updated_at: time,
    fields: jsonObject,
  })
  .meta({ id: "Route" }) as unknown as z.ZodType<WireRoute>;

export const routeList: z.ZodType = z
  .object({ routes: z.array(route), next: textOrNull })
  .meta({ id: "RouteList" });

const routeSession: z.ZodType<WireRouteSession> = z
  .object({ key: text, session_id: text, version: count, since: time, reason: text })
  .meta({ id: "RouteSession" });

export const routeSessions: z.ZodType = z
  .object({ sessions: z.array(routeSession) })
  .meta({ id: "RouteSessionList" });

export const sessionStatus: z.ZodType<WireSessionStatus> = z
  .object({
    session_id: text,
    key: textOrNull,
    current: z.boolean(),
    agent: text,
    message_count: count,
    started_at: time,
    last_interaction_at: time,
    context_tokens: count,
    estimated: z.boolean(),
    model: textOrNull,
    window_tokens: count,
    window_source: text,
    compaction_count: count,
    memory_flush_at: time.nullable(),
    next_reset: z.object({ at: time, reason: text }).nullable(),
    reset_rule: text,
  })
  .meta({ id: "SessionStatus" });

export const inbound: z.ZodType<WireReply> = z
  .object({
    key: text,
    session_id: textOrNull,
    action: text,
    reason: text,
    why: text,
    previous_session_id: textOrNull,
    deliver: z.boolean(),
    text,
    actor: text,
    entry: entry.nullable(),
    answer: textOrNull,
    route: route.nullable(),
    reply: textOrNull.meta({ description: "The text to send." }),
    reply_reason: text.meta({ description: "The reason for the reply, or for its absence." }),
    reply_entry_id: textOrNull,
    silent: z.boolean(),
    notices: z.array(text).meta({ description: "Further messages to send, one by one." }),
    thoughts: z.array(text),
  })
  .meta({ id: "Inbound" }) as unknown as z.ZodType<WireReply>;

export const maintenance: z.ZodType<WireMaintenance> = z
  .object({
    mode: text,
    applied: z.boolean(),
    deletions: z.array(
      z.object({
        session_id: text,
        key: textOrNull,
        reason: text,
        last_interaction_at: time,
        content_bytes: count,
      }),
    ),
    skipped: z.array(text).meta({ description: "Sessions that were written to meanwhile." }),
    spared: z.object({ running: count, shared: count, ingested: count }),
    sessions: count,
    content_bytes: count,
    content_bytes_after: count,
    over_budget: z.boolean(),
  })
  .meta({ id: "Maintenance" });
