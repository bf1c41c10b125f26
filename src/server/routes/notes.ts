/** Memories, facts and rules. */

import { z } from "zod";
import { FACTS, MEMORIES } from "../../api/operations.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { ExtractedPart } from "../../engine/facts/extract-facts-options.ts";
import { actorFor } from "../../model/access.ts";
import { FACT, MEMORY } from "../../model/note.ts";
import { tenantRoute } from "../plain-routes.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { jsonObject, key, limitQuery, sessionParams } from "../schemas/common.ts";
import { asked, oneQuery } from "../schemas/search.ts";
import { EXTRACTION, schemaOf } from "../schemas/shape.ts";

const memoryList = {
  status: 200,
  description: "Whole memories.",
  schema: schemaOf(MEMORIES),
} as const;
const factList = { status: 200, description: "Facts.", schema: schemaOf(FACTS) } as const;

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
  tenantRoute("searchMemory", asked, {
    http: "GET /v1/memories/search",
    operation: "searchMemory",
    summary: "Find memories, the best first.",
    prepare: oneQuery,
  }),
  tenantRoute("getMemory"),
  tenantRoute(
    "putMemory",
    { content: z.string().min(1), metadata: jsonObject.optional() },
    { prepare: asAgent },
  ),
  tenantRoute("deleteMemory", {}, { prepare: asAgent }),
  tenantRoute(
    "listFacts",
    { limit: limitQuery.optional() },
    {
      prepare: async ({ tenant }, { session_id: id }: { readonly session_id?: string }) => {
        if (id !== undefined) await tenant.getSessionMeta(id);
      },
    },
  ),
  tenantRoute("searchFacts", asked, {
    http: "GET /v1/facts/search",
    operation: "searchFacts",
    summary: "Find current facts, the best first.",
    prepare: oneQuery,
  }),
  tenantRoute("getFact"),
  tenantRoute("deleteFact"),
  tenantRoute("supersedeFact", { by: key }),
  tenantRoute("listRules", { limit: limitQuery.optional() }),
  tenantRoute("addRule", { text: z.string().min(1) }),
  tenantRoute("acceptRule"),
  tenantRoute("rejectRule"),
  tenantRoute("removeRule"),
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
    answer: {
      status: 200,
      description: "The added facts, and counts.",
      schema: schemaOf(EXTRACTION),
    },
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

/** Memories of an agent are written by those who may act as it. */
function asAgent({ access }: Caller, { agent }: { readonly agent: string }): void {
  actorFor(access, agent);
}
