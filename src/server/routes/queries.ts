/** Reads with a body: long queries, and dry runs. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { COMPACTION_PLAN } from "../../model/answers/context.ts";
import { tenantRoute } from "../plain-routes.ts";
import { defineRoute, type Route } from "../route.ts";
import { sessionParams } from "../schemas/common.ts";
import { compacting } from "../schemas/compaction.ts";
import { asked, oneQuery } from "../schemas/search.ts";
import { PLANNED, schemaOf } from "../schemas/shape.ts";

export const QUERY_ROUTES: readonly Route[] = [
  tenantRoute("searchMemory", asked, { prepare: oneQuery }),
  tenantRoute("searchFacts", asked, { prepare: oneQuery }),
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
      schema: schemaOf(PLANNED),
    },
    handle: async ({ tenant }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const planned = await handle.planCompaction(fromWireFields(body));
      return { plan: planned === null ? null : toWire(COMPACTION_PLAN, planned) };
    },
  }),
];
