/** Options with parts: ranking of hits, pruning of a context. */

import { z } from "zod";
import type { WirePrune } from "../../api/context.ts";
import type { SearchInput } from "../../engine/search.ts";
import { RANKINGS } from "../../model/inputs/choices.ts";
import { count, key } from "./common.ts";

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
