/** Search, recall, context, compaction and summaries. */

import { z } from "zod";
import { fromWirePrune, toWireContext, toWireRecalled } from "../../api/context.ts";
import { fromWireFields } from "../../api/wire.ts";
import { PROVIDERS } from "../../context/render/render.ts";
import type { CompactionResult } from "../../engine/compaction/compact.ts";
import type { CompactInput } from "../../engine/compaction/compact-options.ts";
import { RECALL_SCOPES } from "../../engine/context/recall.ts";
import { RANKINGS } from "../../model/inputs/choices.ts";
import {
  DEFAULT_CONTEXT_BUDGET,
  MAX_SEARCH_DEADLINE_MS,
  MIN_CONTEXT_BUDGET,
} from "../../model/limits.ts";
import { otherTenantRoute, sessionRoute } from "../plain-routes.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { count, countQuery, key, sessionParams } from "../schemas/common.ts";
import {
  asked,
  compacting,
  context,
  oneQuery,
  prune,
  ranking,
  recalled,
  summarizing,
} from "../schemas/search.ts";

function deadline<Input>(ms: z.ZodType<number, Input>): z.ZodType<number | undefined> {
  return ms
    .refine((value) => value <= MAX_SEARCH_DEADLINE_MS, {
      message: `at most ${MAX_SEARCH_DEADLINE_MS}`,
    })
    .optional()
    .meta({ description: `500 if left out, ${MAX_SEARCH_DEADLINE_MS} at most.` });
}

export const SEARCH_ROUTES: readonly Route[] = [
  otherTenantRoute(
    "searchSessions",
    { ...asked, ranking: z.enum(RANKINGS).optional(), deadline_ms: deadline(countQuery) },
    {
      http: "GET /v1/search",
      operation: "searchSessions",
      summary: "Find messages, with the messages around them.",
      newestWins: true,
      prepare: oneQuery,
    },
  ),
  otherTenantRoute(
    "searchSessions",
    { ...asked, ranking: ranking.optional(), deadline_ms: deadline(count) },
    { newestWins: true, prepare: oneQuery },
  ),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/recall",
    operation: "recall",
    tag: "context",
    scope: "read",
    summary: "Messages and facts that bear on a question.",
    params: sessionParams,
    body: z.strictObject({
      query: z.string(),
      k: count.optional(),
      scope: z.enum(RECALL_SCOPES).optional(),
    }),
    answer: { status: 200, description: "The best first.", schema: recalled },
    handle: async ({ tenant }, { params, body: { query, ...options } }) => {
      const handle = tenant.session(params.session_id);
      const items = [];
      for await (const item of handle.recall(query, fromWireFields(options))) {
        items.push(toWireRecalled(item));
      }
      return { items };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/context",
    operation: "buildContext",
    tag: "context",
    summary: "The context for a model, under a token budget.",
    scope: "read",
    params: sessionParams,
    body: z.strictObject({
      token_budget: count.optional().meta({
        description: `At least ${MIN_CONTEXT_BUDGET}; ${DEFAULT_CONTEXT_BUDGET} if left out.`,
      }),
      recent_turns: count.optional(),
      semantic_recall: z
        .union([
          z.literal(false),
          z.strictObject({ k: count.optional(), threshold: z.number().min(0).max(1).optional() }),
        ])
        .optional(),
      include_facts: z.boolean().optional(),
      rules: z.boolean().optional().meta({
        description: "Adds the rules in force, and candidates of this session.",
      }),
      filter_participants: z.array(key).optional(),
      query: z.string().optional(),
      leaf: key.optional(),
      reply_to: key.optional(),
      provider: z.enum(PROVIDERS).optional(),
      model: key.optional(),
      prune: prune.optional(),
    }),
    answer: { status: 200, description: "Messages, and the omitted ones.", schema: context },
    handle: async ({ tenant }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const { semantic_recall: recall, prune: pruning, ...rest } = body;
      const built = await handle.buildContext({
        ...fromWireFields(rest),
        ...(recall === undefined
          ? {}
          : { semanticRecall: recall === false ? false : fromWireFields(recall) }),
        ...(pruning === undefined ? {} : { prune: fromWirePrune(pruning) }),
      });
      const rendered = "rendered" in built ? built.rendered : null;
      return { ...toWireContext(built), rendered: rendered ?? null };
    },
  }),
  sessionRoute(
    "compact",
    {
      ...compacting,
      summary: z.string().min(1).optional().meta({ description: "The host's own words." }),
    },
    { exact: true, run: compact },
  ),
  sessionRoute("summaries"),
  sessionRoute("summarize", { through: key.optional(), ...summarizing }, { exact: true }),
  sessionRoute("usage", { leaf: key.optional() }),
  sessionRoute("applyRetention"),
];

/** The host's own words take the place of a summarizer. */
function compact(
  { tenant, signal, idempotency }: Caller,
  given: CompactInput & { readonly sessionId: string; readonly summary?: string },
): Promise<CompactionResult> {
  const { sessionId, summary, ...options } = given;
  const words = summary === undefined ? {} : { before: () => ({ summary }) };
  return tenant.compactConversation(sessionId, { ...options, ...words, ...idempotency, signal });
}
