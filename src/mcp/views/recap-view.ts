/** A recap as data. */

import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import type { RecapLine, SessionRecap } from "../../recap/recap.ts";

const LINE = z.object({ msg_idx: z.number().int(), text: z.string() });

export const RECAP_VIEW: z.ZodType<RecapView> = z.object({
  session_id: z.string(),
  short_id: z.string(),
  title: z.string(),
  messages: z.number().int().describe("Within the period."),
  unread: z.number().int().describe("Older ones, which were not read."),
  requests: z.array(LINE),
  request_count: z.number().int(),
  outcome: LINE.nullable(),
  files_changed: z.array(
    z.object({ path: z.string(), msg_idx: z.number().int(), times: z.number().int() }),
  ),
  files_read: z.number().int(),
  commands: z.array(LINE.extend({ times: z.number().int(), failed: z.boolean().nullable() })),
  lookups: z.number().int().describe("The number of read-only commands."),
});

interface LineView {
  readonly msg_idx: number;
  readonly text: string;
}

export interface RecapView {
  readonly session_id: string;
  readonly short_id: string;
  readonly title: string;
  readonly messages: number;
  readonly unread: number;
  readonly requests: LineView[];
  readonly request_count: number;
  readonly outcome: LineView | null;
  readonly files_changed: { path: string; msg_idx: number; times: number }[];
  readonly files_read: number;
  readonly commands: (LineView & { times: number; failed: boolean | null })[];
  readonly lookups: number;
}

export function toRecapView(recap: SessionRecap): RecapView {
  const { session, outcome } = recap;
  return {
    session_id: session.id,
    short_id: session.shortId,
    title: maskText(session.title),
    messages: recap.messages,
    unread: recap.unread,
    requests: recap.requests.map(toLineView),
    request_count: recap.requestCount,
    outcome: outcome === null ? null : toLineView(outcome),
    files_changed: recap.filesChanged.map(({ path, index, times }) => ({
      path: maskText(path),
      msg_idx: index,
      times,
    })),
    files_read: recap.filesRead,
    commands: recap.commands.map((command) => ({
      ...toLineView(command),
      times: command.times,
      failed: command.failed ?? null,
    })),
    lookups: recap.lookups,
  };
}

function toLineView({ index, text }: RecapLine): LineView {
  return { msg_idx: index, text: maskText(text) };
}
