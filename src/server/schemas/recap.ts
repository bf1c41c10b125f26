/** Schemas of recaps, traces and related sessions. */

import { z } from "zod";
import { TRACE_SUBJECTS } from "../../model/inputs/choices.ts";
import type { WireRecap } from "../../recap/wire/wire-recap.ts";
import type { WireRelated } from "../../recap/wire/wire-related.ts";
import type { WireClearing, WireTrace, WireTracedCall } from "../../recap/wire/wire-trace.ts";
import { count, time } from "./common.ts";
import { hit } from "./search.ts";
import { session } from "./session.ts";

const text = z.string();
const line = z.object({ msg_idx: count, text }).meta({ id: "RecapLine" });
const command = z.object({
  msg_idx: count,
  text,
  times: count,
  failed: z.boolean().nullable().meta({ description: "How the last run ended, if it is known." }),
});

export const recap: z.ZodType<WireRecap> = z
  .object({
    sessions: z.array(
      z.object({
        session,
        messages: count.meta({ description: "Within the period." }),
        unread: count.meta({ description: "Older ones, which were not read." }),
        requests: z.array(line).meta({ description: "The first, and the last ones." }),
        request_count: count,
        outcome: line.nullable().meta({ description: "The last answer." }),
        files_changed: z.array(z.object({ path: text, msg_idx: count, times: count })),
        files_read: count,
        commands: z.array(command),
        lookups: count.meta({ description: "The number of read-only commands." }),
      }),
    ),
    more: z.boolean().meta({ description: "There are more sessions in the period." }),
    sub_agents: count.meta({ description: "Sessions of sub-agents that were left out." }),
  })
  .meta({ id: "Recap" });

const span = z.object({ first: count, last: count, times: count }).meta({ id: "Span" });

const call: z.ZodType<WireTracedCall> = z
  .object({
    msg_idx: count,
    tool: text,
    input: text,
    files_changed: z.array(text),
    files_read: z.array(text),
    commands: z.array(text),
    created_at: time,
    result: z.object({ msg_idx: count, failed: z.boolean(), output: text }).nullable(),
  })
  .meta({ id: "TracedCall" });

const clearing: z.ZodType<WireClearing> = z
  .object({
    edits: z.array(call),
    success: call.nullable().meta({ description: "Null if it was never tried again." }),
    answer: line.nullable(),
  })
  .meta({ id: "Clearing" });

const kind = z.enum(TRACE_SUBJECTS);

export const trace: z.ZodType<WireTrace> = z
  .object({
    subject: z.object({ kind, text }),
    within_words: z.boolean().meta({
      description:
        "No session has the text as whole words: it was sought within words, in any case.",
    }),
    sessions: z.array(
      z.object({
        session,
        other_branch: z.boolean().meta({
          description:
            "Only branches other than the active one have it; msg_idx counts along each.",
        }),
        finding: z
          .object({
            kind,
            changed: span.nullable(),
            read: span.nullable(),
            commands: span.nullable().meta({ description: "Of a file: commands that name it." }),
            runs: span.nullable(),
            failures: span.nullable(),
            met: span.nullable(),
            line: text.nullable().meta({ description: "The line that reports the error." }),
            call: call
              .nullable()
              .meta({ description: "The last change, run, or call that met the error." }),
            asked: text.nullable().meta({ description: "The request before the last change." }),
            cleared: clearing.nullable(),
          })
          .meta({ description: "Fields that its kind does not have are null." }),
      }),
    ),
    more: count.meta({ description: "Further sessions that have it, beyond the limit." }),
    unread: count.meta({
      description: "Older sessions that may have it and were not read; 0: the trace is complete.",
    }),
  })
  .meta({ id: "Trace" });

export const related: z.ZodType<WireRelated> = z
  .object({
    question: text
      .nullable()
      .meta({ description: "The question that was searched for; null if there is none." }),
    sessions: z.array(hit).meta({ description: "Sessions like the given one." }),
    asked: z.array(hit).meta({ description: "The same question in other sessions." }),
    notes: z.array(text),
  })
  .meta({ id: "Related" });
