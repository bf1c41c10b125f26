/** A session as a line of a list: what one needs to tell it from others. */

import { z } from "zod";
import { maskSession } from "../../api/mask.ts";
import { toWireSession, type WireSession } from "../../api/session.ts";
import { isSubAgent, type Session } from "../../model/session.ts";
import { cutToBytes } from "../cut-text.ts";

export type SessionView = Pick<
  WireSession,
  | "id"
  | "short_id"
  | "title"
  | "agent"
  | "owner"
  | "created_at"
  | "updated_at"
  | "last_interaction_at"
  | "message_count"
  | "summary"
  | "parent_session_id"
  | "workstation_id"
  | "project_id"
  | "project_path"
  | "git_branch"
  | "exchange_count"
  | "tool_counts"
  | "file_mtime"
  | "first_msg_at"
  | "last_msg_at"
> & { readonly source: string | null; readonly sub_agent: boolean };

/** A list shows how a summary begins. */
const SUMMARY_BYTES = 512;

const text = z.string().nullable();

const FIELDS = {
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  agent: z.string(),
  owner: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  last_interaction_at: z.string(),
  message_count: z.number().int(),
  summary: text,
  parent_session_id: text,
  workstation_id: text,
  project_id: text,
  project_path: text,
  git_branch: text,
  exchange_count: z.number().int().nullable(),
  tool_counts: z.record(z.string(), z.number()).nullable(),
  file_mtime: text,
  first_msg_at: text,
  last_msg_at: text,
};

export const SESSION_VIEW: z.ZodType<SessionView> = z.object({
  ...FIELDS,
  source: text,
  sub_agent: z.boolean(),
});

const USAGE = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_creation_tokens: z.number(),
  cache_read_tokens: z.number(),
});

/** All that is known of a session. */
export const WIRE_SESSION: z.ZodType<WireSession> = z.object({
  ...FIELDS,
  tenant: z.string(),
  created_by: z.string(),
  participants: z.array(z.string()),
  metadata: z.record(z.string(), z.json()),
  ttl: z.number().nullable(),
  retention: z.enum(["full", "audit-only", "ephemeral"]),
  fork_point: text,
  origin: z.object({
    source: text,
    workstation: text,
    project_id: text,
    project_path: text,
    git_branch: text,
    repo: text,
    file: text,
    key: text,
  }),
  cost_usd: z.number().nullable(),
  started_at: z.string(),
  last_write_at: z.string(),
  entry_count: z.number().int(),
  tokens: USAGE,
  leaf: text,
  summarized_through: text,
});

export function toSessionView(session: Session): SessionView {
  const wire = toWireSession(maskSession(session));
  const { summary, origin } = wire;
  const fields = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
  const view = Object.fromEntries(fields.map((field) => [field, wire[field]])) as unknown;
  return {
    ...(view as SessionView),
    summary: summary === null ? null : cutToBytes(summary, SUMMARY_BYTES),
    source: origin.source,
    sub_agent: isSubAgent(session),
  };
}
