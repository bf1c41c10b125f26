/** Administration: status, maintenance, quotas. Acts on a whole store need an operator. */

import { z } from "zod";
import { toWireStats } from "../../api/stats.ts";
import { toWireStatus } from "../../api/status.ts";
import { fromWireFields } from "../../api/wire.ts";
import { INDEX_TASKS } from "../../engine/maintain-index.ts";
import { maintainSessions } from "../../gateway/maintain.ts";
import { STORE_STATUS } from "../../model/answers/store.ts";
import { engineRoute, functionRoute, tenantRoute } from "../plain-routes.ts";
import { defineRoute, type Route } from "../route.ts";
import { count, filters, key } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
import { schemaOf } from "../schemas/shape.ts";
import { stats } from "../schemas/store.ts";

const limit = count.nullable().optional();

export const ADMIN_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/stats",
    operation: "stats",
    tag: "store",
    summary: "Totals of sessions, messages, tokens and cost.",
    scope: "read",
    query: z.strictObject({
      ...inputOf("stats", "query", filters("stats")),
      session: key.optional().meta({ description: "One session alone, without its sub-agents." }),
    }),
    answer: { status: 200, description: "By agent, project, model and day.", schema: stats },
    handle: async ({ tenant }, { query }) => toWireStats(await tenant.stats(fromWireFields(query))),
  }),
  tenantRoute("tenantStatus"),
  tenantRoute("indexStatus"),
  tenantRoute("maintainIndex", { task: z.enum(INDEX_TASKS) }),
  engineRoute("sweep", {}, { run: ({ tenant }) => tenant.sweep() }),
  functionRoute(
    "maintainSessions",
    { dry_run: z.boolean().optional().meta({ description: "Reports the plan only." }) },
    {
      run: async ({ tenant, gateway }, input: { readonly dryRun?: boolean }) => {
        // A dry run is a read, and leaves no row.
        if (!input.dryRun) await tenant.noteAct("maintain_sessions");
        return maintainSessions(tenant, gateway, input);
      },
    },
  ),
  tenantRoute("setQuota", {
    max_sessions: limit,
    max_entries: limit,
    max_content_bytes: limit,
  }),
  defineRoute({
    method: "get",
    path: "/v1/admin/store",
    operation: "status",
    tag: "admin",
    summary: "Counts and sizes of the whole store.",
    scope: "admin",
    operator: true,
    answer: { status: 200, description: "All tenants.", schema: schemaOf(STORE_STATUS) },
    handle: async ({ engine }) => toWireStatus(await engine.status()),
  }),
  engineRoute("verify", { head: key.optional() }),
  engineRoute("checkIntegrity"),
  engineRoute("sweepAll"),
];
