/** A session as an item of a list. */

import { z } from "zod";
import { maskSession } from "../../api/mask.ts";
import { sessionShape, toWireSession, type WireSession } from "../../api/session.ts";
import { toWireName } from "../../api/wire.ts";
import { isSubAgent, RETENTIONS, type Session } from "../../model/session.ts";
import {
  FIGURE_FIELDS,
  type FieldKind,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../../model/session-fields.ts";
import { cutToBytes } from "../cut-text.ts";

const VIEWED = [
  "id",
  "short_id",
  "title",
  "agent",
  "owner",
  "created_at",
  "updated_at",
  "last_interaction_at",
  "message_count",
  "summary",
  "parent_session_id",
  "workstation_id",
  "project_id",
  "project_path",
  "git_branch",
  "exchange_count",
  "tool_counts",
  "file_mtime",
  "first_msg_at",
  "last_msg_at",
] as const;

export type SessionView = Pick<WireSession, (typeof VIEWED)[number]> & {
  readonly source: string | null;
  readonly sub_agent: boolean;
};

/** A list shows the head of a summary. */
const SUMMARY_BYTES = 512;

const text = z.string().nullable();

const KINDS: Readonly<Record<Exclude<FieldKind, "figures">, z.ZodType>> = {
  text: z.string(),
  count: z.number().int(),
  amount: z.number(),
  time: z.string(),
  retention: z.enum(RETENTIONS),
  names: z.array(z.string()),
  counts: z.record(z.string(), z.number()),
  json: z.record(z.string(), z.json()),
  origin: z.object(
    Object.fromEntries(Object.keys(ORIGIN_FIELDS).map((name) => [toWireName(name), text])),
  ),
  tokens: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_creation_tokens: z.number(),
    cache_read_tokens: z.number(),
  }),
};

/** All fields of a session. Fields of ingested sessions are null for others. */
const WIRE_FIELDS: Readonly<Record<string, z.ZodType>> = {
  ...sessionShape(SESSION_FIELDS, KINDS, (schema) => schema.nullable()),
  workstation_id: text,
  project_id: text,
  project_path: text,
  git_branch: text,
  ...sessionShape(FIGURE_FIELDS, KINDS, (schema) => schema.nullable()),
};

export const WIRE_SESSION: z.ZodType<WireSession> = z.object(
  WIRE_FIELDS,
) as unknown as z.ZodType<WireSession>;

export const SESSION_VIEW: z.ZodType<SessionView> = z.object({
  ...Object.fromEntries(VIEWED.map((name) => [name, WIRE_FIELDS[name] ?? text])),
  source: text,
  sub_agent: z.boolean(),
}) as unknown as z.ZodType<SessionView>;

export function toSessionView(session: Session): SessionView {
  const wire = toWireSession(maskSession(session));
  const { summary, origin } = wire;
  const view = Object.fromEntries(VIEWED.map((field) => [field, wire[field]])) as unknown;
  return {
    ...(view as SessionView),
    summary: summary === null ? null : cutToBytes(summary, SUMMARY_BYTES),
    source: origin.source,
    sub_agent: isSubAgent(session),
  };
}
