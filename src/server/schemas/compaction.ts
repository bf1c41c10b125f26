/** The request of a compaction, also for its plan. */

import { z } from "zod";
import type { CompactInput } from "../../engine/compaction/compact-options.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { formatCount } from "../../model/display.ts";
import {
  KEEP_WORDS,
  SUMMARIZERS,
  SUMMARY_FALLBACKS,
  SUMMARY_PROFILES,
  SUMMARY_STRATEGIES,
  type SummarizerName,
  type SummaryFallback,
  type SummaryStrategy,
} from "../../model/inputs/choices.ts";
import { count, key } from "./common.ts";

const keep = z.union([
  z.enum(KEEP_WORDS),
  z.strictObject({ messages: count }),
  z.strictObject({ tokens: count }),
]);

const preset = z
  .union([
    z.literal("claw"),
    z.strictObject({
      name: z.literal("claw"),
      messages: count.optional(),
      tokens: count.optional(),
    }),
  ])
  .meta({
    description: `In place of \`keep\`: as claw-code does, ${COMPACTION.claw.messages} messages from ${formatCount(COMPACTION.claw.tokens)} tokens on.`,
  });

type Optional<Value> = z.ZodOptional<z.ZodType<Value>>;

/** The summarizer and its options. */
export const summarizing: {
  summarizer: Optional<SummarizerName>;
  model: z.ZodOptional<z.ZodString>;
  fallback: Optional<SummaryFallback>;
  instructions: z.ZodOptional<z.ZodString>;
  profile: Optional<NonNullable<CompactInput["profile"]>>;
} = {
  summarizer: z.enum(SUMMARIZERS).optional(),
  model: key.optional(),
  fallback: z.enum(SUMMARY_FALLBACKS).optional(),
  instructions: z
    .string()
    .meta({ description: "Instructions to the model that writes it." })
    .optional(),
  profile: z.enum(SUMMARY_PROFILES).optional(),
};

export const compacting: typeof summarizing & {
  preset: Optional<NonNullable<CompactInput["preset"]>>;
  keep: Optional<NonNullable<CompactInput["keep"]>>;
  limit_tokens: z.ZodOptional<z.ZodNumber>;
  strategy: Optional<SummaryStrategy>;
} = {
  preset: preset.optional() as unknown as Optional<NonNullable<CompactInput["preset"]>>,
  keep: keep.optional(),
  limit_tokens: count.optional(),
  ...summarizing,
  strategy: z.enum(SUMMARY_STRATEGIES).optional(),
};
