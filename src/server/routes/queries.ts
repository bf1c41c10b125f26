/** Reads with a body: long queries, and dry runs. */

import { z } from "zod";
import { toWirePlan } from "../../api/compaction-plan.ts";
import { toWireFact, toWireMemory } from "../../api/note.ts";
import { fromWireFields } from "../../api/wire.ts";
import { defineRoute, type Route } from "../route.ts";
import { count, key, sessionParams } from "../schemas/common.ts";
import { compacting } from "../schemas/compaction.ts";
import { facts, memories } from "../schemas/note.ts";
import { asked, splitQuery } from "../schemas/search.ts";

const text = z.string();

const plan = z
  .object({
    covered: z.array(text),
    pinned: z.array(text),
    from: text,
    through: text,
    through_sequence: count,
    first_kept_entry_id: text.nullable(),
    split_turn: z.boolean(),
    cuts: z.array(z.looseObject({})).meta({ description: "Tool results shown shortened." }),
    tokens_before: count,
    tokens_after: count,
    gain_tokens: z.number(),
  })
  .meta({ id: "CompactionPlan" });

export const QUERY_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/memories/search",
    operation: "searchMemoryByBody",
    tag: "memories",
    summary: "Find memories by a long text.",
    scope: "read",
    body: z.strictObject({ ...asked, agent: key.optional(), limit: count.optional() }),
    answer: { status: 200, description: "Whole memories.", schema: memories },
    handle: async ({ tenant }, { body }) => {
      const { query, options } = splitQuery(body);
      const list = await tenant.searchMemory(query, fromWireFields(options));
      return { memories: list.map(toWireMemory) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/facts/search",
    operation: "searchFactsByBody",
    tag: "facts",
    summary: "Find facts by a long text.",
    scope: "read",
    body: z.strictObject({
      ...asked,
      limit: count.optional(),
      min_confidence: z.number().min(0).max(1).optional(),
    }),
    answer: { status: 200, description: "Facts.", schema: facts },
    handle: async ({ tenant }, { body }) => {
      const { query, options } = splitQuery(body);
      const list = await tenant.searchFacts(query, fromWireFields(options));
      return { facts: list.map(toWireFact) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/compact/plan",
    operation: "planCompaction",
    tag: "context",
    scope: "read",
    summary: "The plan of a compaction: entries to cover and to keep.",
    params: sessionParams,
    body: z.strictObject(compacting),
    answer: {
      status: 200,
      description: "Null if there is too little to compact.",
      schema: z.object({ plan: plan.nullable() }).meta({ id: "CompactionPlanAnswer" }),
    },
    handle: async ({ tenant }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const planned = await handle.planCompaction(fromWireFields(body));
      return { plan: planned === null ? null : toWirePlan(planned) };
    },
  }),
];
