/** Memories and facts. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { ExtractedPart } from "../../engine/facts/extract-facts-options.ts";
import { actorFor } from "../../model/access.ts";
import { FACT, MEMORY } from "../../model/note.ts";
import { defineRoute, type Route } from "../route.ts";
import { extraction, fact, facts, memories, memory } from "../schemas/answers.ts";
import { jsonObject, key, limitQuery, sessionParams } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
import { asked, splitQuery } from "../schemas/search.ts";

const named = z.strictObject({ agent: key, name: key });
const byId = z.strictObject({ fact_id: key });
const done = { status: 204, description: "No content." } as const;
const memoryList = { status: 200, description: "Whole memories.", schema: memories } as const;
const factList = { status: 200, description: "Facts.", schema: facts } as const;

export const NOTE_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/memories",
    operation: "listMemories",
    tag: "memories",
    summary: "List memories by agent and name.",
    scope: "read",
    query: z.strictObject({
      agent: key.optional(),
      after_agent: key.optional(),
      after_name: key.optional(),
      limit: limitQuery.optional(),
    }),
    answer: memoryList,
    handle: async ({ tenant }, { query }) => {
      const { agent, limit, after_agent, after_name } = query;
      const list = await tenant.listMemories({
        ...fromWireFields({ agent, limit }),
        ...(after_agent === undefined || after_name === undefined
          ? {}
          : { after: { agent: after_agent, name: after_name } }),
      });
      return { memories: toWire([MEMORY], list) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/memories/search",
    operation: "searchMemory",
    tag: "memories",
    summary: "Find memories, the best first.",
    scope: "read",
    query: z.strictObject({ ...asked, ...inputOf("searchMemory", "query") }),
    answer: memoryList,
    handle: async ({ tenant }, input) => {
      const { query, options } = splitQuery(input.query);
      const list = await tenant.searchMemory(query, fromWireFields(options));
      return { memories: toWire([MEMORY], list) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/memories/{agent}/{name}",
    operation: "getMemory",
    tag: "memories",
    summary: "One memory.",
    scope: "read",
    params: named,
    answer: { status: 200, description: "The memory.", schema: memory },
    handle: async ({ tenant }, { params }) =>
      toWire(MEMORY, await tenant.getMemory(params.agent, params.name)),
  }),
  defineRoute({
    method: "put",
    path: "/v1/memories/{agent}/{name}",
    operation: "putMemory",
    tag: "memories",
    summary: "Write a memory of an agent, replacing one of the same name.",
    scope: "write",
    params: named,
    body: z.strictObject({ content: z.string().min(1), metadata: jsonObject.optional() }),
    answer: { status: 200, description: "The memory.", schema: memory },
    handle: async ({ tenant, access }, { params, body }) => {
      actorFor(access, params.agent);
      return toWire(MEMORY, await tenant.putMemory({ ...params, ...fromWireFields(body) }));
    },
  }),
  defineRoute({
    method: "delete",
    path: "/v1/memories/{agent}/{name}",
    operation: "deleteMemory",
    tag: "memories",
    summary: "Delete a memory.",
    scope: "write",
    params: named,
    answer: done,
    handle: async ({ tenant, access }, { params }) => {
      actorFor(access, params.agent);
      await tenant.deleteMemory(params.agent, params.name);
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/facts",
    operation: "listFacts",
    tag: "facts",
    summary: "List facts.",
    scope: "read",
    query: z.strictObject(inputOf("listFacts", "query", { limit: limitQuery.optional() })),
    answer: factList,
    handle: async ({ tenant }, { query }) => {
      if (query.session_id !== undefined) await tenant.getSessionMeta(query.session_id);
      return {
        facts: (await tenant.listFacts(fromWireFields(query))).map((each) => toWire(FACT, each)),
      };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/facts/search",
    operation: "searchFacts",
    tag: "facts",
    summary: "Find current facts, the best first.",
    scope: "read",
    query: z.strictObject({ ...asked, ...inputOf("searchFacts", "query") }),
    answer: factList,
    handle: async ({ tenant }, input) => {
      const { query, options } = splitQuery(input.query);
      const list = await tenant.searchFacts(query, fromWireFields(options));
      return { facts: toWire([FACT], list) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/facts/{fact_id}",
    operation: "getFact",
    tag: "facts",
    summary: "One fact.",
    scope: "read",
    params: byId,
    answer: { status: 200, description: "The fact.", schema: fact },
    handle: async ({ tenant }, { params }) => toWire(FACT, await tenant.getFact(params.fact_id)),
  }),
  defineRoute({
    method: "delete",
    path: "/v1/facts/{fact_id}",
    operation: "deleteFact",
    tag: "facts",
    summary: "Delete a fact.",
    scope: "write",
    params: byId,
    answer: done,
    handle: async ({ tenant }, { params }) => tenant.deleteFact(params.fact_id),
  }),
  defineRoute({
    method: "post",
    path: "/v1/facts/{fact_id}/supersede",
    operation: "supersedeFact",
    tag: "facts",
    summary: "Replace a fact by another.",
    scope: "write",
    params: byId,
    body: z.strictObject({ by: key }),
    answer: done,
    handle: async ({ tenant }, { params, body }) => tenant.supersedeFact(params.fact_id, body.by),
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/facts",
    operation: "addFacts",
    tag: "facts",
    summary: "Add facts to a session.",
    scope: "write",
    params: sessionParams,
    body: z.strictObject({
      facts: z
        .array(
          z.strictObject({
            subject: z.string(),
            predicate: z.string(),
            object: z.string(),
            source_entry: key.optional(),
            confidence: z.number().min(0).max(1).optional(),
          }),
        )
        .min(1),
    }),
    answer: { ...factList, status: 201 },
    handle: async ({ tenant }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const added = await handle.addFacts(body.facts.map((value) => fromWireFields(value)));
      return { facts: toWire([FACT], added) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/facts/extract",
    operation: "extractFacts",
    tag: "facts",
    scope: "write",
    summary: "Extract facts from messages since the last extraction, with a model.",
    params: sessionParams,
    body: z.strictObject({ through: key.optional(), model: key.optional() }),
    answer: { status: 200, description: "The added facts, and counts.", schema: extraction },
    handle: async ({ tenant, signal }, { params, body: { through, ...options } }) => {
      const handle = tenant.session(params.session_id);
      const parts: ExtractedPart[] = [];
      const added = await handle.extractFacts(through, {
        ...fromWireFields(options),
        signal,
        onPart: (part) => parts.push(part),
      });
      return { facts: toWire([FACT], added), parts };
    },
  }),
];
