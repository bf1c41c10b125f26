/** Administration: status, maintenance, quotas. Acts on a whole store need an operator. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { toWireStats } from "../../api/stats.ts";
import { toWireStatus } from "../../api/status.ts";
import { fromWireFields } from "../../api/wire.ts";
import { INDEX_TASKS } from "../../engine/maintain-index.ts";
import { maintainSessions } from "../../gateway/maintenance/maintain.ts";
import { MAINTENANCE_REPORT } from "../../model/answers/gateway.ts";
import { INDEX_STATUS, SWEEP, TENANT_STATUS, VERIFY_REPORT } from "../../model/answers/store.ts";
import { defineRoute, type Route } from "../route.ts";
import {
  indexReport,
  maintenance,
  storeStatus,
  sweep,
  tenantStatus,
  verification,
} from "../schemas/answers.ts";
import { count, filters, key } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
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
  defineRoute({
    method: "get",
    path: "/v1/status",
    operation: "tenantStatus",
    tag: "store",
    summary: "Counts and sizes of the tenant.",
    scope: "read",
    answer: {
      status: 200,
      description: "Counts and limits; null if nothing was ever written.",
      schema: z.object({ status: tenantStatus.nullable() }).meta({ id: "TenantStatusAnswer" }),
    },
    handle: async ({ tenant }) => {
      const status = await tenant.tenantStatus();
      return { status: status === undefined ? null : toWire(TENANT_STATUS, status) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/index",
    operation: "indexStatus",
    tag: "store",
    summary: "The status of the index.",
    scope: "read",
    answer: {
      status: 200,
      description: "The index's lag, segments and sizes.",
      schema: indexReport,
    },
    handle: async ({ tenant }) => toWire(INDEX_STATUS, await tenant.indexStatus()),
  }),
  defineRoute({
    method: "post",
    path: "/v1/admin/index",
    operation: "maintainIndex",
    tag: "admin",
    summary: "Run index maintenance now: flush, merge, rebuild or purge.",
    scope: "admin",
    act: "maintain_index",
    body: z.strictObject({ task: z.enum(INDEX_TASKS) }),
    answer: {
      status: 200,
      description: "The status of the index afterwards.",
      schema: indexReport,
    },
    handle: async ({ tenant }, { body }) =>
      toWire(INDEX_STATUS, await tenant.maintainIndex(body.task)),
  }),
  defineRoute({
    method: "post",
    path: "/v1/admin/sweep",
    operation: "sweep",
    tag: "admin",
    summary: "Delete expired sessions and records.",
    scope: "admin",
    act: "sweep",
    answer: { status: 200, description: "Counts of the sweep.", schema: sweep },
    handle: async ({ tenant }) => toWire(SWEEP, await tenant.sweep()),
  }),
  defineRoute({
    method: "post",
    path: "/v1/admin/maintain",
    operation: "maintainSessions",
    tag: "admin",
    scope: "admin",
    summary: "Delete sessions that are too old, too many or too large, as the settings say.",
    body: z.strictObject({
      dry_run: z.boolean().optional().meta({ description: "Reports the plan only." }),
    }),
    answer: { status: 200, description: "Sessions to delete, with reasons.", schema: maintenance },
    handle: async ({ tenant, gateway }, { body }) => {
      // A dry run is a read, and leaves no row.
      if (!body.dry_run) await tenant.noteAct("maintain_sessions");
      return toWire(
        MAINTENANCE_REPORT,
        await maintainSessions(tenant, gateway, fromWireFields(body)),
      );
    },
  }),
  defineRoute({
    method: "put",
    path: "/v1/admin/quota",
    operation: "setQuota",
    tag: "admin",
    summary: "Set the tenant's quota; null lifts a limit.",
    scope: "admin",
    operator: true,
    body: z.strictObject({ max_sessions: limit, max_entries: limit, max_content_bytes: limit }),
    answer: { status: 204, description: "No content." },
    handle: async ({ tenant }, { body }) => tenant.setQuota(fromWireFields(body)),
  }),
  defineRoute({
    method: "get",
    path: "/v1/admin/store",
    operation: "status",
    tag: "admin",
    summary: "Counts and sizes of the whole store.",
    scope: "admin",
    operator: true,
    answer: { status: 200, description: "All tenants.", schema: storeStatus },
    handle: async ({ engine }) => toWireStatus(await engine.status()),
  }),
  defineRoute({
    method: "post",
    path: "/v1/admin/store/verify",
    operation: "verify",
    tag: "admin",
    summary: "Recompute every hash of every tenant.",
    scope: "admin",
    operator: true,
    query: z.strictObject({ head: key.optional() }),
    answer: { status: 200, description: "The problems found.", schema: verification },
    handle: async ({ engine }, { query }) =>
      toWire(VERIFY_REPORT, await engine.verify(fromWireFields(query))),
  }),
  defineRoute({
    method: "post",
    path: "/v1/admin/store/check",
    operation: "checkIntegrity",
    tag: "admin",
    summary: "The backend's own check of its files.",
    scope: "admin",
    operator: true,
    answer: {
      status: 200,
      description: "The damage found; empty if there is none.",
      schema: z.object({ problems: z.array(z.string()) }).meta({ id: "Integrity" }),
    },
    handle: async ({ engine }) => ({ problems: await engine.checkIntegrity() }),
  }),
  defineRoute({
    method: "post",
    path: "/v1/admin/store/sweep",
    operation: "sweepAll",
    tag: "admin",
    summary: "Sweep every tenant.",
    scope: "admin",
    operator: true,
    act: "sweep_store",
    answer: { status: 200, description: "Counts of the sweep.", schema: sweep },
    handle: async ({ engine }) => toWire(SWEEP, await engine.sweepAll()),
  }),
];
