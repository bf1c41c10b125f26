/** The findings of a trace as data: the wire type, shortened and masked. */

import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { TRACE_SUBJECTS } from "../../model/inputs/choices.ts";
import type { TracedSession } from "../../recap/trace.ts";
import type { Span } from "../../recap/trace-session.ts";
import {
  toWireFinding,
  type WireClearing,
  type WireTracedCall,
} from "../../recap/wire/wire-trace.ts";

const SPAN = z.object({ first: z.number().int(), last: z.number().int(), times: z.number().int() });
const CALL: z.ZodType<CallView> = z.object({
  msg_idx: z.number().int(),
  tool: z.string(),
  input: z.string(),
  failed: z.boolean().nullable(),
});

interface CallView {
  readonly msg_idx: number;
  readonly tool: string;
  readonly input: string;
  readonly failed: boolean | null;
}

export interface TracedView {
  readonly session_id: string;
  readonly short_id: string;
  readonly title: string;
  readonly other_branch: boolean;
  readonly kind: (typeof TRACE_SUBJECTS)[number];
  readonly changed: Span | null;
  readonly read: Span | null;
  readonly commands: Span | null;
  readonly runs: Span | null;
  readonly failures: Span | null;
  readonly met: Span | null;
  readonly line: string | null;
  readonly call: CallView | null;
  readonly asked: string | null;
  readonly cleared: {
    readonly edits: CallView[];
    readonly success: CallView | null;
    readonly answer: { readonly msg_idx: number; readonly text: string } | null;
  } | null;
}

export const TRACED_VIEW: z.ZodType<TracedView> = z.object({
  session_id: z.string(),
  short_id: z.string(),
  title: z.string(),
  other_branch: z.boolean().describe("Only a branch other than the active one has it."),
  kind: z.enum(TRACE_SUBJECTS),
  changed: SPAN.nullable(),
  read: SPAN.nullable(),
  commands: SPAN.nullable().describe("Of a file: commands that name it."),
  runs: SPAN.nullable(),
  failures: SPAN.nullable(),
  met: SPAN.nullable(),
  line: z.string().nullable().describe("The line that reports the error."),
  call: CALL.nullable().describe("The last change, run, or call that met the error."),
  asked: z.string().nullable().describe("The request before the last change."),
  cleared: z
    .object({
      edits: z.array(CALL),
      success: CALL.nullable(),
      answer: z.object({ msg_idx: z.number().int(), text: z.string() }).nullable(),
    })
    .nullable(),
});

export function toTracedView({ session, finding, otherBranch }: TracedSession): TracedView {
  const { line, call, asked, cleared, ...spans } = toWireFinding(finding);
  return {
    session_id: session.id,
    short_id: session.shortId,
    title: maskText(session.title),
    other_branch: otherBranch,
    ...spans,
    line: maskOrNull(line),
    call: toCallView(call),
    asked: maskOrNull(asked),
    cleared: cleared === null ? null : toClearedView(cleared),
  };
}

function toClearedView({ edits, success, answer }: WireClearing): TracedView["cleared"] {
  return {
    edits: edits.flatMap((edit) => toCallView(edit) ?? []),
    success: toCallView(success),
    answer: answer === null ? null : { msg_idx: answer.msg_idx, text: maskText(answer.text) },
  };
}

function toCallView(call: WireTracedCall | null): CallView | null {
  if (call === null) return null;
  const { msg_idx, tool, input, result } = call;
  return { msg_idx, tool, input: maskText(input), failed: result?.failed ?? null };
}

function maskOrNull(text: string | null): string | null {
  return text === null ? null : maskText(text);
}
