/** Changes, status and reports of the store in answers. */

import { z } from "zod";
import { count, counts, jsonValue } from "./common.ts";

const text = z.string();
const textOrNull = text.nullable();
const countOrNull = count.nullable();

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
