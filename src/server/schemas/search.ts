/** Schemas of searches, contexts and compactions: their options, and answers that are no shapes. */

import { z } from "zod";
import type { WirePrune } from "../../api/context.ts";
import type { CompactInput } from "../../engine/compaction/compact-options.ts";
import type { SearchInput } from "../../engine/search.ts";
import { RECALLED_MESSAGE } from "../../model/answers/context.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { formatCount } from "../../model/display.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  KEEP_WORDS,
  RANKINGS,
  SUMMARIZERS,
  SUMMARY_FALLBACKS,
  SUMMARY_PROFILES,
  SUMMARY_STRATEGIES,
  type SummarizerName,
  type SummaryFallback,
  type SummaryStrategy,
} from "../../model/inputs/choices.ts";
import { FACT } from "../../model/note.ts";
import { count, jsonValue, key } from "./common.ts";
import { block } from "./entry.ts";
import { schemaOf } from "./shape.ts";

const text = z.string();

/** Search parameters, with the same names in a query string and in a body. */
export const asked: {
  readonly query: z.ZodOptional<z.ZodString>;
  readonly q: z.ZodOptional<z.ZodString>;
} = {
  query: text.optional().meta({
    description: "Required, here or as q. Any text is a valid query.",
  }) as z.ZodOptional<z.ZodString>,
  q: text.optional().meta({ description: "Short for query." }) as z.ZodOptional<z.ZodString>,
};

/**
 * Splits the query from the other options. Throws `invalid_input` unless exactly one name is given.
 */
export function splitQuery<Options extends { query?: string | undefined; q?: string | undefined }>(
  fields: Options,
): { readonly query: string; readonly options: Omit<Options, "query" | "q"> } {
  const { query, q, ...options } = fields;
  if ((query === undefined) === (q === undefined)) {
    const what = query === undefined ? "query is missing" : "query and q are the same";
    throw new BackscrollError("invalid_input", `${what}: give one of query and q`, {
      details: { field: "query" },
    });
  }
  return { query: query ?? q ?? "", options };
}

/** As `splitQuery`, for routes of tables. */
export function oneQuery(_: unknown, fields: { query?: string; q?: string }): object {
  const { query, options } = splitQuery(fields);
  return { ...options, query };
}

const weight = z.number().min(0);
const share = weight.max(1);
const bm25 = z.strictObject({ k1: weight.optional(), b: share.optional() }).optional();

/** The limit of re-ranked sessions: a hundred times the best measured value. */
const MAX_CANDIDATES = 10_000;
/** The limit of tool name patterns: more tools than any agent has. */
const MAX_PATTERNS = 1_000;

const weights = z
  .strictObject({
    bm25,
    passage: bm25,
    roles: z
      .strictObject({
        user: weight.optional(),
        tool: weight.optional(),
        assistant: weight.optional(),
        system: weight.optional(),
      })
      .optional(),
    title: weight.optional(),
    summary: weight.optional(),
    about: weight.optional(),
    actor: weight.optional(),
    misspelt: weight.optional(),
    neighbours: weight.optional(),
    session: weight.optional(),
    recurrence: weight.optional(),
    depth: weight.optional(),
    coverage: weight.optional(),
    verbatim: weight.optional(),
    pairs: weight.optional(),
    meaning: weight.optional(),
    output: weight.optional(),
    candidates: count.max(MAX_CANDIDATES).optional(),
  })
  .meta({ description: "Single weights over `default`; docs/search.md lists them." });

/** A name, or weights: missing weights of a group keep their defaults. */
export const ranking: z.ZodType<NonNullable<SearchInput["ranking"]>> = z.union([
  z.enum(RANKINGS),
  weights,
]) as unknown as z.ZodType<NonNullable<SearchInput["ranking"]>>;

const patterns = z.array(key).max(MAX_PATTERNS).optional();

export const prune: z.ZodType<WirePrune> = z
  .strictObject({
    window_tokens: count.min(1).meta({ description: "Tokens of the model's context window." }),
    used_tokens: count.optional(),
    tools: z.strictObject({ allow: patterns, deny: patterns }).optional(),
    limits: z
      .strictObject({
        trim_ratio: share.optional(),
        trim_above: count.optional(),
        head_characters: count.optional(),
        tail_characters: count.optional(),
        clear_ratio: share.optional(),
        clear_above: count.optional(),
        protected_assistants: count.optional(),
      })
      .optional(),
  })
  .meta({
    description: "Shortens and clears old tool results once the window is filling up.",
  }) as unknown as z.ZodType<WirePrune>;

const textOrNull = text.nullable();

export const context: z.ZodType = z
  .object({
    messages: z.array(
      z.object({
        role: text,
        actor: textOrNull,
        part: text,
        blocks: z.array(block),
        entry_ids: z.array(text),
        model: textOrNull,
        aborted: z.boolean(),
      }),
    ),
    omitted: z.array(z.looseObject({})).meta({ description: "Omitted parts, with reasons." }),
    tokens: count,
    shortened: count,
    rendered: jsonValue.meta({ description: "The provider's own shape; null without `provider`." }),
  })
  .meta({ id: "Context" });

export const recalled: z.ZodType = z
  .object({
    items: z.array(
      z.union([
        schemaOf(RECALLED_MESSAGE),
        z.object({ type: z.literal("fact"), fact: schemaOf(FACT) }),
      ]),
    ),
  })
  .meta({ id: "Recalled" });

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
