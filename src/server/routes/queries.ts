/** Reads with a body: long queries, and dry runs. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { COMPACTION_PLAN } from "../../model/answers/context.ts";
import { FACT, MEMORY } from "../../model/note.ts";
import { defineRoute, type Route } from "../route.ts";
import { facts, memories, planAnswer } from "../schemas/answers.ts";
import { sessionParams } from "../schemas/common.ts";
import { compacting } from "../schemas/compaction.ts";
import { inputOf } from "../schemas/input.ts";
import { asked, splitQuery } from "../schemas/search.ts";

export const QUERY_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/memories/search",
    operation: "searchMemoryByBody",
    tag: "memories",
    summary: "Find memories by a long text.",
    scope: "read",
    body: z.strictObject({ ...asked, ...inputOf("searchMemory", "body") }),
    answer: { status: 200, description: "Whole memories.", schema: memories },
    handle: async ({ tenant }, { body }) => {
      const { query, options } = splitQuery(body);
      const list = await tenant.searchMemory(query, fromWireFields(options));
      return { memories: toWire([MEMORY], list) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/facts/search",
    operation: "searchFactsByBody",
    tag: "facts",
    summary: "Find facts by a long text.",
    scope: "read",
    body: z.strictObject({ ...asked, ...inputOf("searchFacts", "body") }),
    answer: { status: 200, description: "Facts.", schema: facts },
    handle: async ({ tenant }, { body }) => {
      const { query, options } = splitQuery(body);
      const list = await tenant.searchFacts(query, fromWireFields(options));
      return { facts: toWire([FACT], list) };
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
      schema: planAnswer,
    },
    handle: async ({ tenant }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const planned = await handle.planCompaction(fromWireFields(body));
      return { plan: planned === null ? null : toWire(COMPACTION_PLAN, planned) };
    },
  }),
];
