/** Search, recall, context, compaction and summaries. */

import { z } from "zod";
import { fromWirePrune, toWireContext, toWireRecalled } from "../../api/context.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { PROVIDERS } from "../../context/render/render.ts";
import { RECALL_SCOPES } from "../../engine/context/recall.ts";
import { COMPACTION_RESULT, SEARCH_RESULT, SUMMARY } from "../../model/answers/context.ts";
import { RANKINGS } from "../../model/inputs/choices.ts";
import {
  DEFAULT_CONTEXT_BUDGET,
  MAX_SEARCH_DEADLINE_MS,
  MIN_CONTEXT_BUDGET,
} from "../../model/limits.ts";
import { sessionRoute } from "../plain-routes.ts";
import { defineRoute, type Route } from "../route.ts";
import { count, countQuery, key, sessionParams } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
import {
  asked,
  compacting,
  context,
  prune,
  ranking,
  recalled,
  splitQuery,
  summarizing,
} from "../schemas/search.ts";
import { schemaOf } from "../schemas/shape.ts";

function deadline<Input>(ms: z.ZodType<number, Input>): z.ZodType<number | undefined> {
  return ms
    .refine((value) => value <= MAX_SEARCH_DEADLINE_MS, {
      message: `at most ${MAX_SEARCH_DEADLINE_MS}`,
    })
    .optional()
    .meta({ description: `500 if left out, ${MAX_SEARCH_DEADLINE_MS} at most.` });
}

const searchBody = z.strictObject({
  ...asked,
  ...inputOf("searchSessions", "body", {
    ranking: ranking.optional(),
    deadline_ms: deadline(count),
  }),
});

const found = {
  status: 200,
  description: "The best hits.",
  schema: schemaOf(SEARCH_RESULT),
} as const;

export const SEARCH_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/search",
    operation: "searchSessions",
    tag: "search",
    summary: "Find messages, with the messages around them.",
    scope: "read",
    query: z.strictObject({
      ...asked,
      ...inputOf("searchSessions", "query", {
        ranking: z.enum(RANKINGS).optional(),
        deadline_ms: deadline(countQuery),
      }),
    }),
    newestWins: true,
    answer: found,
    handle: async ({ tenant, signal }, input) => {
      const { query, options } = splitQuery(input.query);
      const result = await tenant.searchSessions(query, { ...fromWireFields(options), signal });
      return toWire(SEARCH_RESULT, result);
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/search",
    operation: "searchSessionsByBody",
    tag: "search",
    summary: "The same, with custom weights and a query of any length.",
    scope: "read",
    body: searchBody,
    newestWins: true,
    answer: found,
    handle: async ({ tenant, signal }, { body }) => {
      const { query, options } = splitQuery(body);
      const result = await tenant.searchSessions(query, { ...fromWireFields(options), signal });
      return toWire(SEARCH_RESULT, result);
    },
  }),
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
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/compact",
    operation: "compact",
    tag: "context",
    scope: "write",
    summary: "Summarise older messages into a compaction entry.",
    takesKey: true,
    params: sessionParams,
    body: z.strictObject({
      ...compacting,
      summary: z.string().min(1).optional().meta({ description: "The host's own words." }),
    }),
    answer: { status: 200, description: "The compaction.", schema: schemaOf(COMPACTION_RESULT) },
    handle: async ({ tenant, signal, idempotency }, { params, body }) => {
      const { summary: words, ...rest } = body;
      const result = await tenant.compactConversation(params.session_id, {
        ...fromWireFields(rest),
        ...(words === undefined ? {} : { before: () => ({ summary: words }) }),
        ...idempotency,
        signal,
      });
      return toWire(COMPACTION_RESULT, result);
    },
  }),
  sessionRoute("summaries"),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/summaries",
    operation: "summarize",
    tag: "context",
    summary: "Write a summary beside the conversation.",
    scope: "write",
    params: sessionParams,
    body: z.strictObject({ through: key.optional(), ...summarizing }),
    answer: { status: 201, description: "The summary.", schema: schemaOf(SUMMARY) },
    handle: async ({ tenant, signal }, { params, body: { through, ...options } }) => {
      const handle = tenant.session(params.session_id);
      const written = await handle.summarize(through, { ...fromWireFields(options), signal });
      return toWire(SUMMARY, written);
    },
  }),
  sessionRoute("usage", { leaf: key.optional() }),
  sessionRoute("applyRetention"),
];
